"""A benchmark in numbers and plots."""

from __future__ import annotations

from pathlib import Path

import pytest

from egomem.benchmarks import Benchmark, demo, stats
from egomem.benchmarks.plots import draw_plots
from egomem.benchmarks.plots import time_unit as unit_of
from egomem.errors import UsageError
from egomem.records import Evidence, Question, Video
from egomem.timeline import RecordingTime, Span


def test_every_number() -> None:
    def asked(id: str, key: str, *spans: tuple[float, float], **fields: object) -> Question:
        pieces = tuple(Evidence(recording="v", span=Span(*s)) for s in spans)
        return Question.of("?", ["x", "y"], id=id, answer=key, recording="v", evidence=pieces,
                           **fields)  # fmt: skip

    questions = (
        asked(
            "a", "A", (10, 20), (30, 31), at=RecordingTime("v", 91.0), tags={"visual": ["o", "s"]}
        ),
        asked("b", "B", (50, 50), tags={"visual": ["o"], "reason": "b only"}),
        asked("c", "B", answerable=False),
        Question(id="d", text="open?"),
    )
    videos = (Video(id="v", duration=100, source_dataset="S"), Video(id="w", duration=50))
    counts = stats(Benchmark(name="t", format="native", videos=videos, questions=questions))
    assert (counts.questions, counts.videos) == (4, 2)
    assert (counts.durations.total, counts.durations.least, counts.durations.median) == (
        150,
        50,
        75,
    )
    assert (counts.evidence_count.n, counts.evidence_count.mean) == (2, 1.5)
    assert (counts.evidence_length.most, counts.evidence_length.least) == (11, 0)
    assert (counts.evidence_position.least, counts.evidence_position.most) == (0.1, 0.5)
    assert (counts.gaps.n, counts.gaps.median) == (1, 60)
    assert counts.options == {"2": 3, "open": 1}
    assert counts.keys == {"1": 1, "2": 2}
    assert counts.answerable == {"answerable": 3, "unanswerable": 1}
    assert counts.counts["visual"] == {"o": 2, "s": 1}
    assert counts.counts["source"] == {"S": 3}
    assert counts.videos_by_source == {"S": 1, "not stated": 1}


def test_tags_that_tell_items_apart_are_no_groups() -> None:
    questions = tuple(
        Question(id=str(k), text="?", tags={"reason": f"reason {k}"}) for k in range(41)
    )
    benchmark = Benchmark(name="t", format="native", videos=(), questions=questions)
    assert "reason" not in stats(benchmark).counts
    assert stats(benchmark.only(str(k) for k in range(40))).counts["reason"]


def test_plots_are_drawn_of_what_there_is(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    files = draw_plots(demo(), str(tmp_path / "plots"))
    assert {f.name for f in files} >= {
        "durations.png", "evidence_count.png", "evidence_length.png", "evidence_position.png",
        "visual.png", "source.png",
    }  # fmt: skip
    assert not any(f.name in ("gaps.png", "abstain_option.png") for f in files)
    assert all(f.read_bytes().startswith(b"\x89PNG") for f in files)
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="cannot be a folder of plots"):
        draw_plots(demo(), tmp_path / "file")


def test_a_data_sets_own_text_neither_breaks_a_plot_nor_leaves_its_folder(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    questions = tuple(
        Question.of("?", ["x", "y"], id=str(k), recording="v", answer="A",
                    tags={"../up": ("$\\frac{$", "日本")[k]},
                    evidence=(Evidence(recording="v", span=Span(5, 5)),),
                    at=RecordingTime("v", 8.0))
        for k in range(2)
    )  # fmt: skip
    benchmark = Benchmark(
        name="t", format="native", videos=(Video(id="v", duration=9),), questions=questions
    )
    files = draw_plots(benchmark, tmp_path / "p")
    assert sorted(f.name for f in (tmp_path / "p").iterdir()) == sorted(f.name for f in files) == [
        "_up.png", "durations.png", "evidence_count.png", "evidence_position.png", "gaps.png",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("seconds", "unit"), [([30.0, 90.0], " s"), ([600.0], " min"), ([90_000.0, 9000.0], " h")]
)
def test_times_are_drawn_in_the_unit_that_is_usual(seconds: list[float], unit: str) -> None:
    assert unit_of("durations", seconds)[0] == unit
