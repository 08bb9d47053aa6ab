"""Each arm is told the same about a video, beside what it is there to compare."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from egomem.benchmarks import Benchmark
from egomem.evaluate import Config
from egomem.evaluate.hardware import hardware, hardware_text
from egomem.evaluate.measures import servers_of, with_measures, without_measures
from egomem.records import Answer, Status
from egomem.testing import ScriptedServer

Go = Any


@pytest.mark.parametrize("setting", ["video", "caption@2", "verify@2"])
def test_no_reader_is_told_the_name_of_the_one_video(
    benchmark: Benchmark, spec: str, go: Go, server: ScriptedServer, tmp_path: Path, setting: str
) -> None:
    videos = []
    for k, video in enumerate(benchmark.videos):
        path = Path(video.path or "").rename(tmp_path / f"making-tea-{k}.mp4")
        videos.append(video.model_copy(update={"path": str(path)}))
    named = benchmark.model_copy(update={"videos": tuple(videos)})
    go(named, Config(settings=(setting,), readers=(spec,)), tmp_path / "run")
    asked = [r.text for r in server.requests if "Question: " in r.text]
    assert len(asked) >= 5
    assert not any("making-tea" in text for text in asked)
    assert all("Recording, clock unknown" in text for text in asked)


def test_a_run_says_which_machine_servers_and_parameters_it_had(
    benchmark: Benchmark, spec: str, go: Go, tmp_path: Path
) -> None:
    config = Config(settings=("clean",), readers=(spec,), gate="report", max_tokens=77)
    go(benchmark, config, tmp_path / "run")
    about = json.loads((tmp_path / "run" / "run.json").read_text())
    assert about["hardware"] == hardware()
    assert about["hardware"]["cores"] > 0
    assert about["requests"]["max_tokens"] == {"reader": 77, "captioner": config.caption_tokens}
    assert about["requests"]["policy"]["max_attempts"] > 1
    assert about["requests"]["limits"][spec]["reader"]["images"] > 0
    assert list(about["servers"]) == ["fake"]


def test_a_servers_version_is_a_measure_and_no_part_of_the_answer() -> None:
    def asked(**fields: Any) -> Answer:
        step = {"step": "asked", "model": "m-7b", "raw": "B", **fields}
        return Answer(text="b", status=Status.PARSED, choice="B", strategy="x", trace=(step,))

    old, new, silent = asked(server_version="0.8"), asked(server_version="0.9"), asked()
    assert without_measures(old) == without_measures(new) == without_measures(silent)
    assert servers_of([old, new, old, silent]) == {"m-7b": ["0.8", "0.9"]}
    assert with_measures(silent, {"trace": {"0": {"server_version": "0.8"}}}) == old


def test_a_machine_in_words() -> None:
    machine = {"processor": "Thing 9", "cores": 6, "memory_gb": 31.5, "gpus": ["G1, 80 MiB"]}
    assert hardware_text(machine) == "Thing 9, 6 cores, 31.5 GB; G1, 80 MiB"
    assert hardware_text({}) == "not known"
