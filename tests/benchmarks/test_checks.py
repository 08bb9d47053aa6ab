"""What is wrong with a benchmark as a whole."""

from __future__ import annotations

import math
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from egomem.benchmarks import Benchmark, demo, manifest, validate
from egomem.benchmarks.checks import chi_squared_tail
from egomem.errors import MediaError
from egomem.records import Evidence, Question, Video
from egomem.timeline import RecordingTime, Span


def bench(questions: list[Question], *videos: Video, licence: str = "ours") -> Benchmark:
    return Benchmark(
        name="t", format="native", videos=videos, questions=tuple(questions), licence=licence
    )


def keyed(keys: str, size: int = 4) -> list[Question]:
    options = [f"option {k}" for k in range(size)]
    return [Question.of("?", options, id=str(k), answer=key) for k, key in enumerate(keys)]


def kinds(benchmark: Benchmark) -> list[tuple[str, str]]:
    return [(f.id, f.kind) for f in validate(benchmark)]


@given(st.floats(0, 200), st.integers(1, 40))
def test_the_tail_of_chi_squared_is_scipys(statistic: float, freedom: int) -> None:
    expected = scipy_stats.chi2.sf(statistic, freedom)
    assert math.isclose(
        chi_squared_tail(statistic, freedom), expected, rel_tol=1e-9, abs_tol=1e-300
    )


def test_keys_that_sit_in_one_place_are_told() -> None:
    rng = random.Random(5)
    even = "".join(rng.choice("ABCD") for _ in range(300))
    heavy = "".join(rng.choice("BBBBACD") for _ in range(300))  # 57 % at B
    assert kinds(bench(keyed(even))) == []
    assert kinds(bench(keyed(heavy))) == [("", "balance")]
    message = validate(bench(keyed(heavy)))[0].message
    assert f"{heavy.count('B')} of 300 keys are at position 2" in message
    assert kinds(bench(keyed("BBB"))) == []  # three say nothing
    assert kinds(bench(keyed("A" * 100 + "B" * 70 + "CD" * 65))) == []  # p 0.01
    assert kinds(bench(keyed("A" * 115 + "B" * 65 + "CD" * 60))) == [("", "balance")]  # p 3e-6


def test_a_balance_over_questions_with_different_numbers_of_options() -> None:
    two = [q.model_copy(update={"id": f"t{q.id}"}) for q in keyed("AB" * 100, size=2)]
    assert kinds(bench(keyed("ABCD" * 50) + two)) == []
    skewed = [q.model_copy(update={"id": f"t{q.id}"}) for q in keyed("A" * 200, size=2)]
    assert kinds(bench(keyed("ABCD" * 50) + skewed)) == [("", "balance")]


def test_ids_licence_and_media(tmp_path: Path) -> None:
    (tmp_path / "v.mp4").write_bytes(b"not a video, but a file")
    twice = keyed("A") + keyed("B")
    assert kinds(bench(twice)) == [("0", "duplicate")]
    assert kinds(bench(keyed("A"), licence="")) == [("", "licence")]
    video = Video(id="v", duration=3.0, source_dataset="X", licence="MIT", sha256="0" * 64)
    lacking = Video(id="w", duration=3.0, source_dataset="Y")
    benchmark = bench(keyed("A"), video, lacking)
    assert kinds(benchmark) == [("", "licence")]
    assert "Y" in validate(benchmark)[0].message
    placed = benchmark.with_media(tmp_path)
    assert kinds(placed) == [("w", "media"), ("", "licence")]
    assert benchmark.with_media(str(tmp_path)) == placed
    hashed = validate(placed, hash_media=True)
    assert "is not the file it was" in hashed[0].message
    (tmp_path / "v.mp4").unlink()
    assert "no file at" in validate(placed)[0].message


def test_videos_without_a_length_are_named_once() -> None:
    benchmark = bench(keyed("A"), Video(id="v"), Video(id="w"), Video(id="x", duration=1.0))
    messages = [f.message for f in validate(benchmark)]
    assert len(messages) == 1
    assert "2 of 3 videos state no length, v among them" in messages[0]


def test_a_manifest_names_sources_and_hashes_and_no_path(tmp_path: Path) -> None:
    (tmp_path / "w.mp4").write_bytes(b"abc")
    (tmp_path / "x.mp4").write_bytes(b"another file than was stated")
    stated = Video(id="x", sha256="a" * 64)
    benchmark = bench(keyed("AB"), Video(id="w", source_dataset="S", licence="MIT"), stated)
    benchmark = benchmark.with_media(tmp_path)
    document = manifest(benchmark, hash_media=True)
    assert document["videos"][1]["sha256"] == "a" * 64
    assert document["videos"][:1] == [
        {"id": "w", "source_dataset": "S", "source_uid": "", "licence": "MIT", "duration": None,
         "sha256": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"}
    ]  # fmt: skip
    assert str(tmp_path) not in str(document)
    changed = bench(keyed("AC"), *benchmark.videos)
    assert manifest(changed)["questions_sha256"] != document["questions_sha256"]
    assert manifest(benchmark)["questions_sha256"] == document["questions_sha256"]


def test_validate_repeats_what_loading_found() -> None:
    assert validate(demo()) == []


@pytest.mark.parametrize("word", ["café", "CAFÉ ", "cafe\u0301."])
def test_options_are_the_same_after_normalising(word: str) -> None:
    question = Question.of("?", ["café", word + " "], id="q", answer="A")
    assert kinds(bench([question])) == [("q", "options")]


def timed(start: float, end: float, at: float | None = None) -> Question:
    evidence = (Evidence(recording="v", span=Span(start, end)),)
    asked = None if at is None else RecordingTime("v", at)
    return Question.of("?", ["a", "b"], id="q", recording="v", evidence=evidence, at=asked)


@pytest.mark.parametrize(
    ("stated", "question", "faults"),
    [
        (None, timed(40, 61.9), []),
        (None, timed(40, 63), [("q", "evidence")]),
        (None, timed(40, 50, at=70), [("q", "time")]),
        (100.0, timed(70, 80), [("q", "evidence"), ("v", "duration")]),
        (62.3, timed(0, 1), []),  # rounded
        (63.0, timed(0, 1), [("v", "duration")]),
    ],
)
def test_times_are_held_against_the_file(
    tmp_path: Path, stated: float | None, question: Question, faults: list[tuple[str, str]]
) -> None:
    """Of 61.7 s, whatever is stated of it; without it, all but what is stated goes unseen."""
    path = tmp_path / "v.mp4"
    path.touch()
    benchmark = bench([question], Video(id="v", path=str(path), duration=stated))
    findings = validate(benchmark, length_of=lambda file: 61.7 if file == path else 0.0)
    assert [(f.id, f.kind) for f in findings] == faults
    unmeasured = [f.kind for f in validate(benchmark) if f.kind != "duration"]
    assert unmeasured == []


def test_a_file_that_cannot_be_read_is_told_and_the_others_are_measured(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).touch()

    def length_of(path: Path) -> float:
        if path.name == "a":
            raise MediaError("a holds no picture", "look at it")
        return 12.0

    videos = [Video(id=v, path=str(tmp_path / v)) for v in ("a", "b", "gone")]
    findings = validate(bench(keyed("AB"), *videos), length_of=length_of)
    rows = [(f.id, f.kind) for f in findings]
    assert rows == [("gone", "media"), ("a", "media"), ("", "duration")]
    assert findings[1].message == "a holds no picture"
    assert "2 of 3 videos state no length" in findings[2].message


def test_lengths_fill_what_is_not_stated() -> None:
    benchmark = bench([], Video(id="a"), Video(id="b", duration=5.0), Video(id="c"))
    lengths = {"a": 7.5, "b": 9.0}
    assert [v.duration for v in benchmark.with_lengths(lengths).videos] == [7.5, 5.0, None]
