"""The report's page in a real browser: filters, questions, texts that mean harm, both looks."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

import av
import numpy as np
import pytest

from egomem.benchmarks import Benchmark
from egomem.evaluate import Config, Finished, Run, StoredRun
from egomem.memory import Store
from egomem.memory.thumbnails import keep_thumbnail
from egomem.records import (
    Answer,
    Evidence,
    Observation,
    Question,
    Recording,
    Status,
    Track,
    Usage,
    Video,
)
from egomem.report import report_columns, report_sections
from egomem.report.failure_analysis import explain_column
from egomem.report.page import render_html
from egomem.report.question_browser import browser_data
from egomem.timeline import Span

EVIL = (
    "</script><script>window.hurt = 1</script><img src=x onerror='window.hurt = 1'>"
    "<!-- \u2028 \u202e ${window.hurt = 1} \x00 &lt;b&gt; \u05d0\u05d1\u05d2"
)
COUNT = 60
READERS = ("ollama:one", "openai:two")


def jpeg() -> bytes:
    out = io.BytesIO()
    with av.open(out, "w", format="mjpeg") as container:
        stream = container.add_stream("mjpeg", rate=1)
        stream.width, stream.height, stream.pix_fmt = 64, 48, "yuvj420p"
        frame = av.VideoFrame.from_ndarray(np.full((48, 64, 3), 90, np.uint8), format="rgb24")
        container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return out.getvalue()


def asked(count: int) -> tuple[Question, ...]:
    """Questions about six videos, two of them long; the first one means harm."""
    questions = []
    for k in range(count):
        text = EVIL if k == 0 else f"Which drawer is number {k}?"
        options = [EVIL if k == 0 else f"red {k}", "green", "blue", "black"]
        questions.append(
            Question.of(
                text,
                options,
                id=f"q{k}",
                recording=f"v{k % 6}",
                answer="ABCD"[k % 4],
                evidence=(Evidence(recording=f"v{k % 6}", span=Span(31.0, 40.0), quote=text),),
                tags={"visual": [(EVIL, "Action", "Object")[k % 3]]},
            )
        )
    return tuple(questions)


def answered(question: Question, k: int, column: int) -> Answer:
    """Every status occurs, and the columns are right for different questions."""
    status = list(Status)[(k * 7 + column) % 6] if (k + column) % 5 == 0 else Status.PARSED
    away = 0 if (k * 7 + column * 3) % 5 < 2 else 1 + k % 3  # those that are wrong agree
    choice = "ABCD"[(k + away) % 4] if status is Status.PARSED else None
    text = EVIL if k == 0 else f"reply {k}"
    return Answer(
        text=text,
        status=status,
        choice=choice,
        strategy="x",
        reason=text,
        trace=(
            {"step": "looked", "frames": [{"recording": "v0", "time": 31.5}], "missing": []},
            {"step": "asked", "role": "reader", "raw": f"raw {text}", "usage": {"tokens_in": 7}},
        ),
    )


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("page") / "run"
    questions = asked(COUNT)
    videos = tuple(Video(id=f"v{k}", duration=2400.0 if k > 3 else 300.0) for k in range(6))
    settings = ("video", "caption@30")
    config = Config(settings=settings, readers=READERS, gate="report")
    results = StoredRun()
    for c, column in enumerate(config.arms()):
        for k, q in enumerate(questions):
            if (k, c) != (5, 0):  # one cell is missing
                cell = Finished(
                    question=q.id, arm=column, parts={"prompt": "abc"},
                    answer=answered(q, k, c), usage=Usage(requests=1, tokens_in=9), version="0.1.0",
                )  # fmt: skip
                results.cells[cell.key] = cell
    track = Track(source="caption", observer="vlm", model="ollama:one", prompt="p@1", window=30.0)
    with Store.open(folder / "memory", create=True) as store:
        store.put_recording(Recording(id="r0", name="v0", duration=300.0))
        store.put_track(track)
        store.add(
            [
                Observation(
                    recording="r0", span=Span(30.0, 60.0), text=EVIL, source="caption",
                    track=track.id,
                )
            ]
        )  # fmt: skip
    keep_thumbnail(folder / "memory", "r0", 30.0, jpeg())
    about = {
        "recordings": {"v0": "r0"},
        "tracks": {c.label: track.id for c in config.arms() if c.setting == "caption@30"},
        "command": ["egomem", "eval", EVIL],
        "config_hash": config.hash,
    }
    benchmark = Benchmark(name=EVIL, format="native", videos=videos, questions=questions)
    return Run(folder, about, config, benchmark, results)


@pytest.fixture(scope="module")
def address(run: Run, tmp_path_factory: pytest.TempPathFactory) -> str:
    columns = report_columns([run])
    text = render_html(EVIL, report_sections([run], columns, [EVIL]), browser_data(columns))
    path = tmp_path_factory.mktemp("html") / "report.html"
    path.write_text(text, encoding="utf-8")
    return path.as_uri()


@pytest.fixture
def page(chromium: Any, address: str) -> Any:
    chromium.open(address)
    return chromium


def complaints(page: Any) -> list[dict[str, Any]]:
    kinds = ("Log.entryAdded", "Runtime.exceptionThrown", "Runtime.consoleAPICalled")
    return [params for kind in kinds for params in page.seen(kind)]


def requests(page: Any) -> list[str]:
    sent = (params["request"]["url"] for params in page.seen("Network.requestWillBeSent"))
    return [url for url in sent if not url.startswith(("data:", "blob:"))]


def go_to(page: Any, **filters: str) -> str:
    """Change the address as a link would; what the page then says of its questions."""
    hash = json.dumps(f"#questions?{urlencode(filters)}")
    page.run(
        "new Promise((done) => { addEventListener('hashchange', () => setTimeout(done),"
        f" {{once: true}}); location.hash = {hash}; }})"
    )
    count: str = page.run("document.getElementById('count').firstChild.textContent")
    return count


def listed_texts(page: Any) -> list[str]:
    """The texts of the questions in the list."""
    texts: list[str] = page.run(
        "[...document.querySelectorAll('.question .text')].map((e) => e.textContent)"
    )
    return texts


Said = dict[str, tuple[str, bool, str | None, str | None]]
"""Column -> status, right, choice, why wrong: of one question, worked out here."""

A, B, C, D = "video one", "video two", "caption@30 one", "caption@30 two"


@pytest.fixture(scope="module")
def truth(run: Run) -> list[tuple[Question, Said]]:
    columns = report_columns([run])
    assert [e.name for e in columns] == [A, B, C, D]
    why = {e.name: explain_column(e, columns) for e in columns}
    rows = []
    for q in run.questions:
        verdicts: Said = {}
        for e in columns:
            answer = e.answers.get(q.id)
            because = why[e.name][q.id]
            verdicts[e.name] = (
                answer.status.value if answer else "missing",
                answer is not None and answer.choice == q.answer,
                answer.choice if answer else None,
                because.why.value if because else None,
            )
        rows.append((q, verdicts))
    return rows


Fits = Callable[[Question, Said], bool]

FILTERS: list[tuple[dict[str, str], Fits]] = [
    ({"status": "refused"}, lambda q, s: any(v[0] == "refused" for v in s.values())),
    ({"status": "missing"}, lambda q, s: any(v[0] == "missing" for v in s.values())),
    ({"status": "parsed", "setting": C}, lambda q, s: s[C][0] == "parsed"),
    ({"tag": "visual: Action"}, lambda q, s: q.tags["visual"] == ["Action"]),
    ({"tag": f"visual: {EVIL}"}, lambda q, s: q.tags["visual"] == [EVIL]),
    ({"duration": "> 20 min"}, lambda q, s: q.recording in ("v4", "v5")),
    ({"answer": "wrong", "setting": B}, lambda q, s: not s[B][1]),
    ({"why": "misread", "setting": D}, lambda q, s: s[D][3] == "misread"),
    ({"disagreement": "some right, some wrong"}, lambda q, s: len({v[1] for v in s.values()}) > 1),
    (
        {"disagreement": "answers differ", "setting": A, "against": C},
        lambda q, s: (s[A][2] or s[A][0]) != (s[C][2] or s[C][0]),
    ),
    (
        {"disagreement": "setting right, against wrong", "setting": A, "against": C},
        lambda q, s: s[A][1] and not s[C][1],
    ),
    (
        {"disagreement": "setting wrong, against right", "setting": A, "against": C},
        lambda q, s: not s[A][1] and s[C][1],
    ),
    (
        {"disagreement": "setting right, against wrong", "setting": B},
        lambda q, s: s[B][1] and not all(v[1] for v in s.values()),
    ),
    (
        {"disagreement": "setting wrong, against right", "against": D},
        lambda q, s: s[D][1] and not all(v[1] for v in s.values()),
    ),
    (
        {"disagreement": "all right", "setting": A, "against": D},
        lambda q, s: s[A][1] and s[D][1],
    ),
    (
        {"disagreement": "some right, some wrong", "setting": A},
        lambda q, s: len({v[1] for v in s.values()}) > 1,
    ),
    ({"disagreement": "all wrong"}, lambda q, s: not any(v[1] for v in s.values())),
    ({"text": "NUMBER 1"}, lambda q, s: "number 1" in q.text.lower()),
    (
        {"tag": "visual: Object", "duration": "<= 12 min", "answer": "right", "setting": D},
        lambda q, s: q.tags["visual"] == ["Object"] and q.recording < "v4" and s[D][1],
    ),
]


def test_filters_show_exactly_the_questions_that_fit(
    page: Any, truth: list[tuple[Question, Said]]
) -> None:
    for choices, fits in FILTERS:
        expected = [q.text for q, verdicts in truth if fits(q, verdicts)]
        assert 0 < len(expected) < COUNT, choices
        assert go_to(page, **choices) == f"{len(expected)} of {COUNT} questions", choices
        assert listed_texts(page) == expected[:50], choices
    # One answer has to be all that is asked; that others are right or refused is not enough.
    verdicts = [list(s.values()) for _, s in truth]
    assert any(any(v[1] for v in s) and any(v[0] == "refused" for v in s) for s in verdicts)
    assert go_to(page, answer="right", status="refused") == f"0 of {COUNT} questions"
    assert not complaints(page)


def test_the_page_asks_for_nothing_and_complains_of_nothing(page: Any, address: str) -> None:
    assert page.run("document.getElementById('count').textContent") == f"60 of {COUNT} questions"
    assert len(listed_texts(page)) == 50
    page.run("[...document.querySelectorAll('#list > button')].at(-1).click()")
    assert len(listed_texts(page)) == COUNT
    page.run("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
    assert requests(page) == [address]
    assert not complaints(page)


def test_what_is_chosen_stands_in_the_address(page: Any, address: str) -> None:
    """A view of the questions can be sent to others."""
    page.run(
        "(() => { const [select] = [...document.querySelectorAll('#filters select')]"
        ".filter((s) => s.getAttribute('aria-label') === 'status'); select.value = 'refused';"
        " select.dispatchEvent(new Event('input')); })()"
    )
    hash, before = page.run("location.hash"), listed_texts(page)
    assert hash == "#questions?status=refused"
    page.open(address + hash)
    assert listed_texts(page) == before
    counts = page.run("[...document.querySelectorAll('#filters option')].map((o) => o.text)")
    assert f"refused ({len(before)})" in counts
    page.run("document.querySelector('#count button').click()")
    assert page.run("location.hash") == "#questions"
    assert len(listed_texts(page)) == 50


def test_a_count_of_wrong_answers_leads_to_their_questions(page: Any) -> None:
    links = page.run(
        "[...document.querySelectorAll('#why-wrong td a')].map((a) => [a.textContent, a.hash])"
    )
    assert len(links) > 8
    for count, hash in links:
        page.run(
            "new Promise((done) => { addEventListener('hashchange', () => setTimeout(done),"
            f" {{once: true}}); document.querySelector(`#why-wrong a[href='{hash}']`).click(); }})"
        )
        count_text = page.run("document.getElementById('count').firstChild.textContent")
        assert count_text == f"{count} of {COUNT} questions"


def test_a_question_opens_with_evidence_frames_and_trace(page: Any, address: str) -> None:
    page.open(f"{address}#questions?open=q6")
    body = "document.querySelector('.question[open] .body')"
    page.run(
        f"(async () => {{ while (!{body}?.querySelector('.answer')) "
        "await new Promise((done) => setTimeout(done, 5)); })()"
    )
    assert page.run(f"{body}.querySelector('.key').textContent") == "C. blue (key)"
    text = page.run(f"{body}.textContent")
    assert 'evidence: v0 0:31-0:40 "Which drawer is number 6?"' in text
    size = page.run(
        f"(async () => {{ const i = {body}.querySelector('img'); await i.decode();"
        " return [i.naturalWidth, i.naturalHeight, i.alt]; })()"
    )
    assert size == [64, 48, "frame of v0 0:30"]
    assert "captions over the evidence: one, p@1@30s" in text
    assert "1 frame of v0: 0:31.5" in text
    assert "raw reply 6" in text
    assert "egomem 0.1.0; prompt abc" in text
    assert page.run(f"{body}.querySelectorAll('.answer').length") == 4
    assert page.run("scrollY") > 100  # the address leads to the questions


def test_texts_that_mean_harm_are_shown_and_do_nothing(page: Any, address: str) -> None:
    page.open(f"{address}#questions?open=q0")
    body = "document.querySelector('.question[open] .body')"
    page.run(
        f"(async () => {{ while (!{body}?.querySelector('.answer')) "
        "await new Promise((done) => setTimeout(done, 5)); })()"
    )
    assert listed_texts(page)[0] == EVIL
    text = page.run(f"{body}.textContent")
    # option, evidence, caption, tag, then text, reason and raw reply of four settings
    assert text.count(EVIL) == 4 + 4 * 3
    assert page.run("window.hurt") is None
    assert page.run("document.scripts.length") == 2
    assert page.run("[...document.images].every((i) => i.src.startsWith('data:image/jpeg'))")
    title = page.run("document.querySelector('h1').textContent")
    assert title.startswith("</script><script>window.hurt = 1</script><img")
    assert requests(page) == [address]
    assert not complaints(page)


def test_scripts_of_others_could_not_run_if_they_got_in(page: Any) -> None:
    """The page's own policy refuses them, and every request."""
    page.run(
        "(() => { const s = document.createElement('script'); s.textContent = 'window.hurt = 2';"
        " document.body.append(s); })()"
    )
    assert page.run("window.hurt") is None
    refused = page.run("fetch('http://127.0.0.1:9/').then(() => 'sent', () => 'refused')")
    assert refused == "refused"
    assert not [url for url in requests(page) if url.startswith("http")]


@pytest.mark.parametrize("look", ["light", "dark"])
def test_a_narrow_screen_shows_all_in_either_look(chromium: Any, address: str, look: str) -> None:
    chromium.tell(
        "Emulation.setDeviceMetricsOverride",
        width=400,
        height=800,
        deviceScaleFactor=1,
        mobile=True,
    )
    features = [{"name": "prefers-color-scheme", "value": look}]
    chromium.tell("Emulation.setEmulatedMedia", features=features)
    try:
        chromium.open(address)
        assert chromium.run("document.documentElement.scrollWidth") == 400
        shades = chromium.run(
            "['color', 'backgroundColor'].map((n) => getComputedStyle(document.body)[n])"
        )
    finally:
        chromium.tell("Emulation.clearDeviceMetricsOverride")
        chromium.tell("Emulation.setEmulatedMedia", features=[])
    ink, paper = (sum(map(int, re.findall(r"\d+", shade)[:3])) for shade in shades)
    assert (ink > paper) == (look == "dark")
    assert abs(ink - paper) > 400


@pytest.fixture(scope="module")
def broad(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A page of eight settings and two readers with long names, whose usage is known."""
    settings = (
        "clean", "video", "caption@30", "caption@60", "verify@30", "aligned@30",
        "caption@evidence", "video@evidence",
    )  # fmt: skip
    readers = ("ollama:qwen3-vl-32b_instruct", "openai:maker/model-5.2")
    config = Config(settings=settings, readers=readers, gate="report")
    asks = tuple(q.model_copy(update={"tags": {}}) for q in asked(13)[1:])
    folder = tmp_path_factory.mktemp("broad")
    results = StoredRun()
    for c, column in enumerate(config.arms()):
        for k, q in enumerate(asks, 1):
            used = Usage(requests=1, tokens_in=123_456, frames=768, seconds=4321.0, cost=12.5)
            answer = answered(q, k, c)
            cell = Finished(question=q.id, arm=column, parts={}, answer=answer, usage=used)
            results.cells[cell.key] = cell
    videos = tuple(Video(id=f"v{k}", duration=2400.0 if k > 3 else 300.0) for k in range(6))
    benchmark = Benchmark(name="b", format="native", videos=videos, questions=asks)
    loaded = Run(folder, {}, config, benchmark, results)
    columns = report_columns([loaded])
    path = folder / "report.html"
    path.write_text(
        render_html("b", report_sections([loaded], columns), browser_data(columns)),
        encoding="utf-8",
    )
    return path.as_uri()


@pytest.mark.parametrize("width", [1280, 1920])
def test_no_table_runs_off_a_wide_screen(chromium: Any, broad: str, width: int) -> None:
    chromium.tell(
        "Emulation.setDeviceMetricsOverride",
        width=width,
        height=900,
        deviceScaleFactor=1,
        mobile=False,
    )
    try:
        chromium.open(broad)
        boxes = chromium.run(
            "[...document.querySelectorAll('.wide')].map((e) => [e.ariaLabel,"
            " e.scrollWidth - e.clientWidth, e.clientWidth])"
        )
    finally:
        chromium.tell("Emulation.clearDeviceMetricsOverride")
    names = [name for name, _, _ in boxes]
    assert "Wrong answers by reason" in names
    assert any(name.startswith("Tokens per question") for name in names)
    assert [(name, over) for name, over, _ in boxes if over > 0] == []
    assert all(room > 0.85 * width for _, _, room in boxes)
