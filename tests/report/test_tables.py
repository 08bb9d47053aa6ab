"""The report's figures, against plain loops; tables that fit a page; a CSV that holds all of it."""

from __future__ import annotations

import csv
import io
import math
import random
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import combinations, product
from pathlib import Path

import pytest
from scipy import stats as scipy_stats

from egomem.benchmarks import Benchmark
from egomem.evaluate import Config, Finished, Run, StoredRun
from egomem.records import Answer, Evidence, Question, Status, Video
from egomem.report import ReportOptions, report_columns, report_sections
from egomem.report.accuracy import accuracy_section
from egomem.report.bootstrap_columns import bootstrap_columns
from egomem.report.captions_vs_video import captions_vs_video_section
from egomem.report.cell_format import p_value_cell
from egomem.report.finding import finding_section
from egomem.report.gap_by_group import gap_tables
from egomem.report.latex import render_latex
from egomem.report.long_csv import render_csv
from egomem.report.pagination import (
    LINE_WIDTH,
    MAX_ROWS,
    column_width,
    count_label_columns,
    paginate,
)
from egomem.report.paired_tests import paired_tests_section
from egomem.report.slices import slices_section
from egomem.report.table import CellValue, Chart, ReportTable, Section, build_table
from egomem.score import MIN_CLUSTERS
from egomem.timeline import Span

MINUTES = (5, 8, 11, 13, 14, 16, 19, 25, 30, 40, 50, 21)
READERS = ("ollama:a", "ollama:b", "openai:c")
SETTINGS = ("clean", "video", "caption@30", "caption@60", "verify@30", "aligned@30")


def random_run(
    folder: str = "run",
    readers: Sequence[str] = READERS,
    settings: Sequence[str] = SETTINGS,
    minutes: Sequence[float] = MINUTES,
    seed: int = 0,
    **fields: object,
) -> Run:
    """A run of some four questions a video, answered at random; one reply in ten is unreadable."""
    config = Config(settings=tuple(settings), readers=tuple(readers), **fields)  # type: ignore[arg-type]
    videos = tuple(
        Video(id=f"v{k:02}", duration=60.0 * m, source_dataset="one" if k % 2 else "two")
        for k, m in enumerate(minutes)
    )
    questions = tuple(
        Question.of(
            f"Which is number {k}-{i}?",
            ["red", "green", "blue", "black"],
            id=f"q{k}-{i}",
            recording=v.id,
            answer="ABCD"[(k + i) % 4],
            evidence=(Evidence(recording=v.id, span=Span(10.0 * i, 10.0 * i + 5)),),
            tags={"visual": ["Object", "Action"][: 1 + i % 2]},
        )
        for k, v in enumerate(videos)
        for i in range(3 + k % 3)
    )
    rng = random.Random(seed)
    results = StoredRun()
    for column, question in product(config.arms(), questions):
        draw = rng.random()
        choice = question.answer if draw < 0.45 else "A"
        status = Status.PARSED if draw < 0.9 else Status.UNPARSABLE
        answer = Answer(text="", status=status, choice=choice if draw < 0.9 else None, strategy="x")
        cell = Finished(question=question.id, arm=column, parts={}, answer=answer)
        results.cells[cell.key] = cell
    benchmark = Benchmark(name="b", format="native", videos=videos, questions=questions)
    return Run(Path(folder), {}, config, benchmark, results)


def grids(section: Section) -> dict[str, ReportTable]:
    return {part.title: part for part in section.parts if isinstance(part, ReportTable)}


def rows_of(part: ReportTable) -> list[dict[str, CellValue]]:
    """Each row by its headings."""
    names = [h.text if isinstance(h, CellValue) else h for h in part.headings]
    cells = [
        [c if isinstance(c, CellValue) else CellValue(text=c) for c in row] for row in part.rows
    ]
    return [dict(zip(names, row, strict=True)) for row in cells]


def right(
    run: Run, setting: str, reader: str, question: Question, captioner: str | None = None
) -> int:
    """Written again: the letter is the key."""
    answers = [
        cell.answer.choice
        for (asked, column), cell in run.cells.items()
        if (asked, column.setting, column.reader) == (question.id, setting, reader)
        and captioner in (None, column.captioner)
    ]
    assert len(answers) == 1
    return int(answers[0] == question.answer)


def videos_of(run: Run, keep: Callable[[float], bool]) -> dict[str, list[Question]]:
    by_video: dict[str, list[Question]] = {
        v.id: [] for v in run.benchmark.videos if v.duration and keep(v.duration)
    }
    for q in run.questions:
        if (q.recording or "") in by_video:
            by_video[q.recording or ""].append(q)
    return by_video


REGIMES: dict[str, Callable[[float], bool]] = {
    "all": lambda s: True,
    "<= 20 min": lambda s: s <= 1200,
    "> 20 min": lambda s: s > 1200,
    "<= 12 min": lambda s: s <= 720,
    "12-20 min": lambda s: 720 < s <= 1200,
    "within 768 frames": lambda s: s <= 768,
    "over 768 frames": lambda s: s > 768,
}


def interval(gaps: dict[str, list[float]], strata: Iterable[list[str]]) -> tuple[float, float]:
    """Ends of a percentile interval in points: plain draws of whole videos within strata."""
    rng = random.Random(1)
    groups = [g for g in strata if g]
    drawn = []
    for _ in range(3000):
        picked = [x for g in groups for v in rng.choices(g, k=len(g)) for x in gaps[v]]
        drawn.append(100 * sum(picked) / len(picked))
    drawn.sort()
    return drawn[75], drawn[2924]


def p_of(gaps: Iterable[list[float]]) -> float:
    """Every way to swap the sides of whole videos; only for few videos."""
    sums = [sum(gaps_of_video) for gaps_of_video in gaps]
    observed = abs(sum(sums)) - 1e-9
    ways = list(product((1, -1), repeat=len(sums)))
    return sum(
        abs(sum(s * x for s, x in zip(w, sums, strict=True))) >= observed for w in ways
    ) / len(ways)


def assert_holm(rows: list[dict[str, CellValue]]) -> None:
    """Adjusted for all rows: step down from the smallest p, and never below the one before."""
    given = sorted((r["p"].value or 0.0, r["p (Holm)"].value) for r in rows)
    worst = 0.0
    for k, (p, adjusted) in enumerate(given):
        worst = max(worst, min(1.0, p * (len(given) - k)))
        assert adjusted == pytest.approx(worst)


def test_the_headline_is_that_of_plain_loops() -> None:
    """The mean over three readers of captions less frames: value, interval, p and wins."""
    run = random_run()
    section = captions_vs_video_section(bootstrap_columns(report_columns([run])))
    table = grids(section)["Captions less video, mean of 3 readers"]
    rows = {(r["setting"].text, r["videos"].text): r for r in rows_of(table)}
    settings = ("caption@30", "caption@60", "aligned@30")
    assert list(rows) == list(product(settings, REGIMES))
    for setting, (name, keep) in product(settings, REGIMES.items()):
        row, videos = rows[setting, name], videos_of(run, keep)
        asked = [q for questions in videos.values() for q in questions]
        each = {
            reader: [right(run, setting, reader, q) - right(run, "video", reader, q) for q in asked]
            for reader in READERS
        }
        assert (row["n"].n, row["n"].detail) == (len(asked), f"{len(videos)} videos")
        gap = 100 * sum(map(sum, each.values())) / (3 * len(asked))
        assert row["points"].value == pytest.approx(gap)
        assert row["above video"].text == f"{sum(sum(g) > 0 for g in each.values())} of 3"
        mean = sum(right(run, setting, r, q) for r in READERS for q in asked) / (3 * len(asked))
        assert row["captions %"].value == pytest.approx(100 * mean)
        assert ("few" in row["points"].detail) == (len(videos) < MIN_CLUSTERS)

    # One of them in full: every sign pattern of twelve videos, and an interval drawn by hand.
    gaps = {
        v: [
            sum(right(run, "caption@30", r, q) - right(run, "video", r, q) for r in READERS) / 3
            for q in questions
        ]
        for v, questions in videos_of(run, REGIMES["all"]).items()
    }
    row = rows["caption@30", "all"]
    assert row["p"].value == pytest.approx(p_of(gaps.values()))
    assert_holm(list(rows.values()))
    strata = [list(videos_of(run, REGIMES[n])) for n in ("<= 20 min", "> 20 min")]
    # Percentiles stretched about the value by what Student's t and n - 2 ask for.
    stretched = math.sqrt(12 / 10) * scipy_stats.t.ppf(0.975, 10) / scipy_stats.norm.ppf(0.975)
    value = row["points"].value or 0.0
    ends = [value + stretched * (end - value) for end in interval(gaps, strata)]
    assert (row["points"].low, row["points"].high) == pytest.approx(ends, abs=1.5)


def finding_of(*runs: Run) -> Section:
    columns = report_columns(runs)
    return finding_section(columns, bootstrap_columns(columns))


def blind(run: Run, reader: str, choice: Callable[[Question], str]) -> None:
    """Answer `clean` anew."""
    for key, cell in list(run.cells.items()):
        if (cell.arm.setting, cell.arm.reader) == ("clean", reader):
            letter = choice(next(q for q in run.questions if q.id == cell.question))
            answer = Answer(text="", status=Status.PARSED, choice=letter, strategy="x")
            run.cells[key] = cell.model_copy(update={"answer": answer})


def test_the_finding_counts_readers_that_pass_the_gate_with_all_beside_it() -> None:
    run = random_run()
    for reader in READERS[:2]:
        blind(run, reader, lambda q: "B")  # a quarter of the keys
    blind(run, READERS[2], lambda q: q.answer or "")  # all of them: it saw the key
    gaps = {
        r: [right(run, "caption@30", r, q) - right(run, "video", r, q) for q in run.questions]
        for r in READERS
    }
    points = {r: 100 * sum(gap) / len(gap) for r, gap in gaps.items()}
    passing, every = (sum(map(points.get, of)) / len(of) for of in (READERS[:2], READERS))  # type: ignore[arg-type]
    section = captions_vs_video_section(bootstrap_columns(report_columns([run])))
    table = grids(section)["Captions less video, mean of 2 readers that pass the bias gate"]
    (row,) = [
        r for r in rows_of(table) if (r["setting"].text, r["videos"].text) == ("caption@30", "all")
    ]
    assert row["points"].value == pytest.approx(passing)
    assert row["points, all 3 readers"].value == pytest.approx(every)
    assert row["points"].source == ("run", "caption@30", "mean of 2", "their own")
    finding = finding_of(run)
    more = "more" if passing >= 0 else "fewer"
    assert finding.text[0].startswith(
        f"With caption@30, {abs(passing):.1f} points {more} (95 % interval "
    )
    assert (
        "than with video, the mean of 2 readers. On videos of more than 20 min, " in finding.text[0]
    )
    assert finding.text[-1] == "The means leave out what did not pass the bias gate: c."


def test_where_no_reader_passes_the_gate_all_are_counted_and_it_says_so() -> None:
    run = random_run()
    for reader in READERS:
        blind(run, reader, lambda q: q.answer or "")
    assert "the mean of 3 readers" in finding_of(run).text[0]
    assert finding_of(run).text[-1] == (
        "Readers that did not pass the bias gate are counted, or none were left: a, b, c."
    )


def with_captions(run: Run, key: Callable[[Question, str], str]) -> Run:
    """The run with other answers from captions: `key` has the question and its key."""
    for cell in list(run.cells.values()):
        if cell.arm.setting.startswith("caption@"):
            question = next(q for q in run.questions if q.id == cell.question)
            letter = key(question, question.answer or "")
            answer = Answer(text="", status=Status.PARSED, choice=letter, strategy="x")
            run.cells[cell.key] = cell.model_copy(update={"answer": answer})
    return run


def test_the_lead_says_what_the_intervals_show() -> None:
    settings = ("video", "caption@30", "caption@60")
    run = random_run(settings=settings)
    assert (
        "no difference" in finding_of(random_run(settings=settings[:1] * 1 + ("aligned@30",))).lead
    )
    assert finding_of(with_captions(run, lambda q, k: k)).lead == (
        "Readers answer more from captions than from frames."
    )
    assert finding_of(with_captions(run, lambda q, k: "none")).lead == (
        "Readers answer more from frames than from captions."
    )
    mixed = with_captions(run, lambda q, k: k)
    for cell in list(mixed.cells.values()):
        if cell.arm.setting == "caption@60":
            wrong = cell.answer.model_copy(update={"choice": "none"})
            mixed.cells[cell.key] = cell.model_copy(update={"answer": wrong})
    assert "depends on how the captions are made" in finding_of(mixed).lead
    one = random_run(settings=settings, minutes=(30,))
    assert finding_of(one).lead.startswith("One video cannot tell")


def test_without_captions_the_finding_is_the_best_setting_and_the_best_baseline() -> None:
    run = random_run(settings=("clean", "video"))
    best = max(
        (100 * sum(right(run, s, r, q) for q in run.questions) / len(run.questions), f"{s} {r[-1]}")
        for s in ("clean", "video")
        for r in READERS
    )
    lead = finding_of(run).lead
    assert lead.startswith(f"{best[1]} is right on {best[0]:.1f} % (")
    assert "; without the video, " in lead


def test_the_picture_has_a_panel_for_each_regime_with_all_readers() -> None:
    finding = finding_of(random_run())
    (chart,) = finding.parts
    assert isinstance(chart, Chart)
    assert [panel.title.split(":")[0] for panel in chart.panels] == [
        "All videos", "Up to 20 min", "Over 20 min",
    ]  # fmt: skip
    for panel in chart.panels:
        assert panel.svg.count("<polyline") == 3 * 4 + 1  # intervals, and the baseline
        assert all(f">{reader[-1]}</text>" in panel.svg for reader in READERS)
    names = [name for name, _ in chart.legend]
    assert names == [
        "video", "caption@30", "caption@60", "aligned@30", "best answer without the video",
    ]  # fmt: skip
    many = finding_of(random_run(readers=[f"ollama:m{k}" for k in range(20)]))
    (chart,) = many.parts
    assert isinstance(chart, Chart)
    assert "4 readers with lower accuracies left out" in chart.note
    assert chart.panels[0].svg.count("<polyline") == 16 * 4 + 1


@pytest.mark.parametrize("view", ["visual tags", "evidence position"])
def test_captions_less_video_by_group_is_that_of_plain_loops(view: str) -> None:
    run = random_run(settings=("video", "caption@30"))
    places = [
        q.model_copy(update={"evidence": (Evidence(recording=q.recording, span=Span(at, at + 1)),)})
        for k, q in enumerate(run.benchmark.questions)
        for at in [60.0 * k * MINUTES[int((q.recording or "")[1:])] / len(run.questions)]
    ]
    run.benchmark = run.benchmark.model_copy(update={"questions": tuple(places)})
    table = next(
        t for t in gap_tables(bootstrap_columns(report_columns([run]))) if f"by {view}" in t.title
    )

    def groups(q: Question) -> Sequence[str]:
        if view == "visual tags":
            return list(q.tags["visual"])
        seconds = next(60.0 * m for k, m in enumerate(MINUTES) if q.recording == f"v{k:02}")
        assert q.evidence[0].span is not None
        return [["0%-33%", "33%-67%", "67%-100%"][int(3 * q.evidence[0].span.start / seconds)]]

    by = {(r["setting"].text, r["reader"].text): r for r in rows_of(table)}
    assert next(iter(by)) == ("caption@30", "mean")
    labels = [h.text for h in table.headings[2:] if isinstance(h, CellValue)]
    assert len(labels) > 1
    for label in labels:
        asked = [q for q in run.questions if label in groups(q)]
        assert asked, label
        total = 0
        for reader in READERS:
            gap = sum(
                right(run, "caption@30", reader, q) - right(run, "video", reader, q) for q in asked
            )
            total += gap
            cell = by["caption@30", reader[-1]][label]
            assert cell.value == pytest.approx(100 * gap / len(asked))
            assert cell.n == len(asked)
        assert by["caption@30", "mean"][label].value == pytest.approx(100 * total / 3 / len(asked))


def test_ties_of_the_headline_stand_beside_its_wins() -> None:
    run = random_run(readers=READERS[:1], settings=("video", "caption@30"), minutes=(5, 6, 30))
    for q in run.questions:
        columns = {c.setting: c for c in run.columns}
        answer = run.cells[q.id, columns["video"]].answer
        old = run.cells[q.id, columns["caption@30"]]
        run.cells[old.key] = old.model_copy(update={"answer": answer})
    section = captions_vs_video_section(bootstrap_columns(report_columns([run])))
    rows = rows_of(grids(section)["Captions less video, mean of 1 reader"])
    assert {(r["above video"].text, r["above video"].detail) for r in rows} == {
        ("0 of 1", "1 tied")
    }


def test_a_reader_that_the_gate_stops_in_two_runs_is_named_with_each() -> None:
    settings = ("clean", "video", "caption@30")
    runs = [random_run(name, READERS[:1], settings, gate_low=0.97) for name in ("one", "two")]
    assert finding_of(*runs).text[-1].endswith(": a (one), a (two).")
    (gate,) = [s for s in report_sections(runs, report_columns(runs)) if s.title == "Bias gate"]
    assert [r["reader"].text for r in rows_of(*grids(gate).values())] == ["one: a", "two: a"]
    assert finding_of(runs[0]).text[-1].endswith(": a.")


def test_a_regime_that_holds_all_videos_is_not_said_twice() -> None:
    run = random_run(settings=("video", "caption@30"), minutes=(5, 6, 7))
    (mean, each) = grids(
        captions_vs_video_section(bootstrap_columns(report_columns([run])))
    ).values()
    assert [r["videos"].text for r in rows_of(mean)] == ["all"]
    assert list(map(str, each.headings))[2:] == ["all (n 12, 3 videos)", "not read"]


def test_differences_are_those_of_plain_loops() -> None:
    """verify less the caption answer it starts from, aligned less video, reader less reader."""
    run = random_run()
    tables = grids(paired_tests_section(bootstrap_columns(report_columns([run]))))
    assert list(tables) == [
        "Captions less video",
        "Strategies less the answers that they start from",
        "Readers",
    ]
    every = list(run.questions)
    by_video = videos_of(run, REGIMES["all"])

    def check(row: dict[str, CellValue], a: tuple[str, str], b: tuple[str, str]) -> None:
        gaps = {
            v: [float(right(run, *a, q) - right(run, *b, q)) for q in questions]
            for v, questions in by_video.items()
        }
        assert row["points"].value == pytest.approx(100 * sum(map(sum, gaps.values())) / len(every))
        assert row["%"].value == pytest.approx(
            100 * sum(right(run, *a, q) for q in every) / len(every)
        )
        assert row["p"].value == pytest.approx(p_of(gaps.values()))
        assert row["n"].text == str(len(every))

    names = dict(zip("abc", READERS, strict=True))
    rows = {
        (r["reader"].text, r["setting"].text): r for r in rows_of(tables["Captions less video"])
    }
    assert set(rows) == set(product("abc", ("caption@30", "caption@60", "aligned@30")))
    check(rows["b", "aligned@30"], ("aligned@30", names["b"]), ("video", names["b"]))
    looks = rows_of(tables["Strategies less the answers that they start from"])
    assert [(r["reader"].text, r["setting"].text) for r in looks] == [
        (x, "verify@30 less caption@30") for x in "abc"
    ]
    check(looks[2], ("verify@30", names["c"]), ("caption@30", names["c"]))
    pairs = {
        (r["setting"].text, r["reader"].text, r["less"].text): r for r in rows_of(tables["Readers"])
    }
    every_pair = product(SETTINGS, [(b, a) for a, b in combinations("abc", 2)])
    assert set(pairs) == {(s, *pair) for s, pair in every_pair}
    check(pairs["video", "c", "a"], ("video", names["c"]), ("video", names["a"]))
    for part in tables.values():
        assert_holm(rows_of(part))
        assert f"adjusted for {len(part.rows)} tests" in part.note
        assert "longest option" in part.note


def test_of_many_readers_each_is_set_against_the_best() -> None:
    run = random_run(readers=[f"ollama:{x}" for x in "abcdef"], settings=("video",))
    (part,) = grids(paired_tests_section(bootstrap_columns(report_columns([run])))).values()
    rows = rows_of(part)
    share = {x: sum(right(run, "video", f"ollama:{x}", q) for q in run.questions) for x in "abcdef"}
    best = max(share, key=lambda x: share[x])
    assert {r["less"].text for r in rows} == {best}
    assert [r["reader"].text for r in rows] == [x for x in "abcdef" if x != best]


def test_captioners_are_set_against_each_other() -> None:
    captioners = ("ollama:a", "ollama:d")
    run = random_run(settings=("caption@30",), captioners=captioners, cross=True)
    tables = grids(paired_tests_section(bootstrap_columns(report_columns([run]))))
    # Readers are compared on the captions of each captioner, whoever of them wrote these.
    readers = [
        (r["setting"].text, r["reader"].text, r["less"].text) for r in rows_of(tables["Readers"])
    ]
    pairs = [("b", "a"), ("c", "a"), ("c", "b")]
    assert sorted(readers) == sorted((f"caption@30 < {c}", *p) for c in "ad" for p in pairs)
    rows = rows_of(tables["Captioners"])
    assert [(r["reader"].text, r["captions by"].text, r["less"].text) for r in rows] == [
        (x, "d", "a") for x in "abc"
    ]
    n = len(run.questions)
    for row, reader in zip(rows, READERS, strict=True):
        d, a = (
            sum(right(run, "caption@30", reader, q, c) for q in run.questions)
            for c in reversed(captioners)
        )
        assert row["points"].value == pytest.approx(100 * (d - a) / n)


def test_two_runs_of_the_same_questions_are_paired() -> None:
    one, two = (
        random_run("one", settings=("video",)),
        random_run("two", settings=("video",), seed=1),
    )
    tables = grids(paired_tests_section(bootstrap_columns(report_columns([one, two]))))
    assert list(tables) == ["Readers", "Runs"]
    rows = rows_of(tables["Runs"])
    assert [(r["reader"].text, r["run"].text, r["less"].text) for r in rows] == [
        (x, "two", "one") for x in "abc"
    ]
    for row, reader in zip(rows, READERS, strict=True):
        gap = sum(
            right(two, "video", reader, q) - right(one, "video", reader, q) for q in one.questions
        )
        assert row["points"].value == pytest.approx(100 * gap / len(one.questions))
    # Readers are compared within each run, not once more across the two.
    assert len(tables["Readers"].rows) == 6
    assert all(r["reader"].text[:3] == r["less"].text[:3] for r in rows_of(tables["Readers"]))


def test_a_reader_of_two_runs_is_not_averaged_with_itself() -> None:
    settings = ("video", "caption@30")
    one, two = random_run("one", settings=settings), random_run("two", settings=settings, seed=1)
    tables = grids(captions_vs_video_section(bootstrap_columns(report_columns([one, two]))))
    rows = rows_of(tables["Captions less video, mean of 3 readers"])
    assert [r["setting"].text for r in rows[:: len(REGIMES)]] == [
        "one: caption@30",
        "two: caption@30",
    ]
    every = product(READERS, one.questions)
    gaps = [right(two, "caption@30", r, q) - right(two, "video", r, q) for r, q in every]
    assert rows[len(REGIMES)]["points"].value == pytest.approx(100 * sum(gaps) / len(gaps))


def test_readers_of_two_runs_are_paired() -> None:
    one = random_run("one", readers=READERS[:1], settings=("video",))
    two = random_run("two", readers=READERS[1:2], settings=("video",))
    (row,) = rows_of(
        grids(paired_tests_section(bootstrap_columns(report_columns([one, two]))))["Readers"]
    )
    assert (row["reader"].text, row["less"].text) == ("two: b", "one: a")


def test_tables_of_two_sets_of_questions_tell_which() -> None:
    one, two = random_run("one"), random_run("two", minutes=MINUTES[:5])
    again = random_run("again", minutes=MINUTES[:5], seed=1)  # shares the questions of two
    sections = report_sections([one, two, again], report_columns([one, two, again]))
    titles = [part.title for s in sections for part in s.parts if s.title != "Accuracy by group"]
    assert [t for t, n in Counter(titles).items() if n > 1] == []
    first, second = len(one.questions), len(two.questions)
    assert f"Overall, {first} questions of one" in " ".join(titles)
    assert f"Captions less video, mean of 3 readers, {second} questions of two and again" in titles
    assert sections[0].title == "Finding"
    assert sections[0].text[-1] == f"Of the {first} questions of one."
    alone = report_sections([one], report_columns([one]))[0]
    assert not any("questions of" in line for line in alone.text)


def test_other_questions_are_not_paired() -> None:
    one = random_run("one", readers=READERS[:1], settings=("video",))
    two = random_run("two", readers=READERS[1:2], settings=("video",), minutes=MINUTES[:-1])
    assert paired_tests_section(bootstrap_columns(report_columns([one, two]))).parts == ()


def test_few_videos_are_warned_of_and_nothing_is_detectable() -> None:
    run = random_run(readers=READERS[:1], settings=("video", "caption@30"), minutes=(5, 30))
    columns = bootstrap_columns(report_columns([run]))
    (row,) = rows_of(grids(paired_tests_section(columns))["Captions less video"])
    assert row["points"].low < row["points"].high  # alone in their regimes, so drawn together
    assert row["points"].detail == "few"
    plain = bootstrap_columns(report_columns([run], ReportOptions(intervals="percentile")))
    (row,) = rows_of(grids(paired_tests_section(plain))["Captions less video"])
    assert row["points"].low == row["points"].high  # one video in each regime: all draws alike
    assert row["points"].detail == "few, no spread"
    assert row["MDD"].text == "-"
    strict = rows_of(grids(accuracy_section(plain[0].columns, plain))["Overall"])[0]["strict %"]
    assert strict.detail == "few, no spread"
    enough = random_run(readers=READERS[:1], settings=("video", "caption@30"))
    (row,) = rows_of(
        grids(paired_tests_section(bootstrap_columns(report_columns([enough]))))[
            "Captions less video"
        ]
    )
    assert row["points"].detail == ""
    assert (row["MDD"].value or 0) > 0
    one = random_run(readers=READERS[:1], settings=("video", "caption@30"), minutes=(5,))
    (row,) = rows_of(
        grids(paired_tests_section(bootstrap_columns(report_columns([one]))))["Captions less video"]
    )
    assert (row["points"].low, row["points"].detail) == (None, "one cluster, no interval")


def test_questions_about_no_video_are_not_counted_as_videos() -> None:
    run = random_run(readers=READERS[:1], settings=("video", "caption@30"), minutes=(5, 30))
    lone = run.questions[0].model_copy(update={"recording": None, "evidence": ()})
    questions = (lone, *run.questions[1:])
    run.benchmark = run.benchmark.model_copy(update={"questions": questions})
    columns = bootstrap_columns(report_columns([run]))
    counted = "2 videos and 1 lone question"
    mean = rows_of(
        grids(captions_vs_video_section(columns))["Captions less video, mean of 1 reader"]
    )[0]
    assert mean["n"].detail == counted
    assert grids(paired_tests_section(columns))["Captions less video"].note.startswith(
        f"{counted}; "
    )
    first = rows_of(grids(accuracy_section(columns[0].columns, columns))["Overall"])[0]
    assert first["clusters"].text == "3"


def test_a_p_too_small_to_print_is_a_figure_all_the_same() -> None:
    part = build_table("T", ("", "p"), [["a", p_value_cell(0.0004)], ["b", p_value_cell(0.2)]])
    assert [str(row[1]) for row in part.rows] == ["<0.001", "0.200"]
    assert part.is_numeric(1)


def test_columns_that_do_not_differ_say_so_however_many_videos() -> None:
    run = random_run(readers=READERS[:1], settings=("video", "caption@30"))
    video, caption = run.columns
    for q in run.questions:
        same = run.cells[q.id, video].answer
        old = run.cells[q.id, caption]
        run.cells[q.id, caption] = old.model_copy(update={"answer": same})
    (row,) = rows_of(
        grids(paired_tests_section(bootstrap_columns(report_columns([run]))))["Captions less video"]
    )
    assert (row["points"].text, row["points"].detail) == ("+0.0 [+0.0, +0.0]", "no spread")


def test_three_accuracies_stand_with_their_n() -> None:
    run = random_run(readers=READERS[:1], settings=("video",))
    columns = bootstrap_columns(report_columns([run]))
    row = rows_of(grids(accuracy_section(columns[0].columns, columns))["Overall"])[0]
    answers = [cell.answer for cell in run.cells.values()]
    read = [a for a in answers if a.status is Status.PARSED]
    good = sum(right(run, "video", READERS[0], q) for q in run.questions)
    videos = videos_of(run, REGIMES["all"]).values()
    macro = [
        sum(right(run, "video", READERS[0], q) for q in questions) / len(questions)
        for questions in videos
    ]
    assert row["strict %"].value == pytest.approx(100 * good / len(answers))
    assert row["answered %"].value == pytest.approx(100 * good / len(read))
    assert row["macro %"].value == pytest.approx(100 * sum(macro) / 12)
    ns = [row[name].text for name in ("n", "n answered", "clusters")]
    assert ns == [str(len(answers)), str(len(read)), "12"]
    unreadable = len(answers) - len(read)
    assert row["n by status"].text == f"{len(read)} parsed, {unreadable} unparsable"


MANY = [f"openrouter:maker/model-{k}-instruct" for k in range(12)]
NINE = (
    "clean", "video", "caption@30", "caption@60", "verify@30", "verify@60", "aligned@30",
    "caption@evidence", "video@evidence",
)  # fmt: skip


@pytest.fixture(scope="module")
def large() -> list[Section]:
    run = random_run(readers=MANY, settings=NINE)
    return report_sections([run], report_columns([run]))


def test_each_view_has_one_table_however_many_columns(large: list[Section]) -> None:
    every = [part for section in large for part in section.parts if isinstance(part, ReportTable)]
    titles = [part.title for part in every]
    assert len(titles) == len(set(titles))
    by_title = {part.title: part for part in every}
    whole = by_title["Accuracy % by reader"]
    assert tuple(map(str, whole.headings))[3:] == NINE
    assert len(whole.rows) == 12 + 5
    assert len(by_title["Overall"].rows) == 12 * 9 + 5
    assert len(by_title["Captions less video"].rows) == 12 * 3
    (part,) = [by_title[title] for title in titles if title.startswith("Duration, accuracy %")]
    names = [str(row[0]) for row in part.rows]
    assert names[12 * 9 :] == [
        "chance", "longest option", "fixed position", "option overlap", "always abstain",
    ]  # fmt: skip
    run = random_run(readers=MANY, settings=NINE)
    short = [q for questions in videos_of(run, REGIMES["<= 12 min"]).values() for q in questions]
    cell = part.rows[names.index("video maker/model-4-instruct")][1]
    assert isinstance(cell, CellValue)
    good = sum(right(run, "video", MANY[4], q) for q in short)
    assert cell.value == pytest.approx(100 * good / len(short))
    assert cell.source == ("run", "video", MANY[4], "none")
    assert cell.by_status is not None
    assert sum(cell.by_status.values()) == len(short)


def test_every_table_of_figures_has_n_and_baselines(large: list[Section]) -> None:
    for section in large:
        if section.title in ("Cost", "Runs", "Why wrong", "Retrieve and verify"):
            continue
        for part in section.parts:
            if isinstance(part, ReportTable):
                heads = " ".join(map(str, part.headings))
                assert re.search(r"\bn\b|^n ", heads), part.title
                first = " ".join(str(row[0]) for row in part.rows)
                stated = (
                    "longest option" in first + heads + part.note or "best blind" in heads + first
                )
                assert stated or "by reader" in part.title or "fixed position" in first, part.title


def test_many_groups_stand_in_one_table() -> None:
    run = random_run(minutes=[5 + k for k in range(11)])
    videos = [
        v.model_copy(update={"tags": {"scenario": f"place {v.id}"}}) for v in run.benchmark.videos
    ]
    run.benchmark = run.benchmark.model_copy(update={"videos": tuple(videos)})
    tables = grids(slices_section(report_columns([run])))
    (part,) = [table for title, table in tables.items() if title.startswith("Scenario")]
    assert len(part.headings) == 1 + 11
    questions = [q for q in run.questions if q.recording == "v04"]
    cell = part.rows[[str(row[0]) for row in part.rows].index("video b")][5]
    assert isinstance(cell, CellValue)
    assert cell.value == pytest.approx(
        100 * sum(right(run, "video", READERS[1], q) for q in questions) / len(questions)
    )
    assert "longest option" in [str(row[0]) for row in part.rows]


def test_cut_tables_fit_a_page_and_lose_nothing(large: list[Section]) -> None:
    for section in large:
        for part in section.parts:
            if not isinstance(part, ReportTable):
                continue
            parts = paginate(part)
            for piece in parts:
                assert len(piece.rows) <= MAX_ROWS
                wide = sum(column_width(piece, k) for k in range(len(piece.headings)))
                assert wide <= LINE_WIDTH or len(piece.headings) == count_label_columns(part) + 1, (
                    piece.title
                )
                assert sum(n for _, n in piece.column_groups) in (0, len(piece.headings))
            cells = Counter(str(c) for row in part.rows for c in row[count_label_columns(part) :])
            kept = Counter(str(c) for piece in parts for row in piece.rows for c in row)
            assert not cells - kept


def test_a_long_table_is_cut_by_rows_with_its_baselines_again() -> None:
    rows = [[f"r{k}", f"{k}.0"] for k in range(100)]
    part = build_table("T", ("", "x"), [*rows, ["chance", "25.0"]], footer_rows=1)
    parts = paginate(part)
    assert [piece.title for piece in parts] == ["T (1 of 3)", "T (2 of 3)", "T (3 of 3)"]
    assert [len(piece.rows) for piece in parts] == [MAX_ROWS, MAX_ROWS, 13]
    assert all(piece.rows[-1] == ("chance", "25.0") for piece in parts)
    assert [row for piece in parts for row in piece.rows[:-1]] == [tuple(row) for row in rows]


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
def test_latex_compiles_within_a_page(large: list[Section], tmp_path: Path) -> None:
    text = render_latex(large)
    tables = re.findall(r"\{\\footnotesize.*?\\end\{tabular\}\}", text, re.S)
    lines = [
        r"\documentclass{article}\usepackage{array,textcomp,booktabs}\newsavebox\made",
        r"\begin{document}",
        *(
            f"\\sbox\\made{{{table}}}\\typeout{{box \\the\\wd\\made\\space\\the\\ht\\made}}"
            for table in tables
        ),
        r"\end{document}",
    ]
    (tmp_path / "t.tex").write_text("\n".join(lines))
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "t.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    boxes = re.findall(r"box ([\d.]+)pt ([\d.]+)pt", done.stdout)
    assert len(boxes) == len(tables) > 60
    assert max(float(wide) for wide, _ in boxes) <= LINE_WIDTH
    assert max(float(high) for _, high in boxes) * 2 <= 550 * 2


def test_the_csv_holds_all_that_the_tables_show(large: list[Section]) -> None:
    run = random_run(readers=MANY, settings=NINE)
    rows = list(csv.DictReader(io.StringIO(render_csv(large, [run], report_columns([run])))))
    cells = Counter(
        (section.title, part.title, str(cell))
        for section in large
        for part in section.parts
        if isinstance(part, ReportTable)
        for row in part.rows
        for cell in row[count_label_columns(part) :]
        if str(cell)
    )
    assert Counter((r["section"], r["table"], r["text"]) for r in rows) == cells
    assert {r["run"] for r in rows} == {"run"}
    assert {r["config_hash"] for r in rows} == {run.config.hash}
    (row,) = (
        r for r in rows
        if r["table"] == "Duration, accuracy %"
        and (r["row"], r["column"]) == ("video maker/model-4-instruct", "<= 12 min")
    )  # fmt: skip
    short = [q for questions in videos_of(run, REGIMES["<= 12 min"]).values() for q in questions]
    good = sum(right(run, "video", MANY[4], q) for q in short)
    assert float(row["value"]) == pytest.approx(100 * good / len(short))
    assert (row["setting"], row["reader"], row["n"]) == ("video", MANY[4], str(len(short)))
    assert all(r["setting"] and r["reader"] and r["captioner"] for r in rows)
    (mean,) = (
        r for r in rows
        if r["table"].startswith("Captions less video, mean of")
        and (r["row"], r["column"]) == ("caption@60 | all", "points")
    )  # fmt: skip
    assert (mean["setting"], mean["captioner"]) == ("caption@60", "their own")
    assert re.fullmatch(r"mean of \d+", mean["reader"])
    (chance,) = (
        r for r in rows if (r["table"], r["row"], r["column"]) == ("Overall", "chance", "strict %")
    )
    assert (chance["setting"], chance["reader"], chance["captioner"]) == ("chance", "none", "none")
    gaps = [r for r in rows if (r["section"], r["column"]) == ("Differences", "points")]
    assert len(gaps) > 100
    for row in gaps:
        shown_ends = re.fullmatch(r"\S+ \[(\S+), (\S+)\].*", row["text"])
        assert shown_ends is not None
        ends = [float(row["low"]), float(row["high"])]
        assert ends == pytest.approx([float(x) for x in shown_ends.groups()], abs=0.051)
