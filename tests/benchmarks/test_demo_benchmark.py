"""The benchmark that ships: sound, balanced, without a shortcut, and about the demo's videos."""

from __future__ import annotations

from pathlib import Path

import pytest

from egomem.benchmarks import demo, stats, validate
from egomem.demo.day import WHEELS, demo_day
from egomem.errors import WeightsError
from egomem.media import probe
from egomem.score import abstain_label, group_accuracy, score_answers


def test_it_is_sound_and_can_be_told_from_nothing_but_the_videos() -> None:
    benchmark = demo()
    assert validate(benchmark) == []
    counts = stats(benchmark)
    assert counts.questions >= 40
    assert counts.answerable["unanswerable"] >= 8
    assert set(counts.counts["visual"]) == {"object", "attribute", "spatial", "action"}
    assert max(counts.keys.values()) - min(counts.keys.values()) <= 1
    for blind in group_accuracy(score_answers(benchmark.questions, {})).blind.values():
        assert blind.accuracy < 0.35
    for question in benchmark.questions:
        assert abstain_label(question) is not None
        assert bool(question.evidence) == (question.answerable is True)
        assert (question.answer == abstain_label(question)) == (question.answerable is False)


def test_its_sources_are_the_files_that_the_demo_fetches() -> None:
    pinned = {name: sha for wheel in WHEELS for name, sha in wheel.files.items()}
    for video in demo().videos:
        assert video.licence
        hashes = {video.sha256, video.tags.get("picture_sha256"), video.tags.get("sound_sha256")}
        named = [sha for name, sha in pinned.items() if name in video.source_uid]
        assert named
        assert set(named) == hashes - {None}


def test_its_lengths_are_those_of_the_files(tmp_path: Path) -> None:
    try:
        demo_day(tmp_path)
    except WeightsError as fault:
        pytest.skip(str(fault))
    benchmark = demo().with_media(tmp_path)
    assert validate(benchmark, hash_media=True) == []
    for video in benchmark.videos:
        assert video.path is not None
        assert probe(video.path).duration == pytest.approx(video.duration, abs=0.01)
