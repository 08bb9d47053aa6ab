"""Settings that are shown the evidence alone."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from egomem.benchmarks import Benchmark
from egomem.evaluate import Arm, Config, RunSummary, load_run
from egomem.evaluate.stored_run import Finished
from egomem.testing import ScriptedServer
from egomem.timeline import Span

Go = Callable[..., RunSummary]


def test_oracles_see_the_evidence_alone(
    benchmark: Benchmark, config: Config, server: ScriptedServer, tmp_path: Path, go: Go
) -> None:
    settings = ("caption@2", "caption@evidence", "video@evidence")
    piece = benchmark.questions[0].evidence[0].model_copy(update={"span": Span(3.0, 3.5)})
    late = benchmark.questions[0].model_copy(update={"evidence": (piece,)})
    other = benchmark.model_copy(update={"questions": (late, *benchmark.questions[1:])})
    go(other, config.model_copy(update={"settings": settings}), tmp_path / "run")
    run = load_run(tmp_path / "run")
    spec = config.readers[0]
    whole = run.cells["q0", Arm(setting="caption@2", reader=spec, captioner=spec)]
    cut = run.cells["q0", Arm(setting="caption@evidence", reader=spec, captioner=spec)]

    def count(cell: Finished) -> object:
        return next(
            s["observations"]
            for s in cell.answer.trace
            if isinstance(s, dict) and s["step"] == "notes"
        )

    assert (count(whole), count(cut)) == (2, 1)
    step = run.cells["q0", Arm(setting="video@evidence", reader=spec)].answer.trace[0]
    assert isinstance(step, dict)
    frames = step["frames"]
    assert isinstance(frames, list)
    times = [f["time"] for f in frames if isinstance(f, dict)]
    assert times
    assert all(1.0 <= float(str(t)) <= 4.0 for t in times)  # 3-3.5 s and 2 s on each side


@pytest.mark.parametrize(
    ("pieces", "pad", "frames", "times"),
    [
        # With their pads these are 0-2 s and 1-4 s: 0-4 s once, at most one frame a second.
        ([(0.5, 1.0), (2.0, 3.0)], 1, 16, [0.5, 1.5, 2.5, 3.5]),
        ([(2.0, 3.0), (0.5, 1.0), (2.1, 2.2)], 1, 16, [0.5, 1.5, 2.5, 3.5]),
        # 2 frames for each of the two pieces, wherever they come to lie.
        ([(0.0, 2.0), (1.0, 4.0)], 0, 2, [0.5, 1.5, 2.5, 3.5]),
        ([(0.0, 2.0), (1.0, 4.0)], 0, 1, [1.0, 3.0]),
        ([(0.0, 1.0), (3.0, 4.0)], 0, 16, [0.5, 3.5]),
    ],
)
def test_pieces_of_evidence_that_overlap_are_looked_at_as_one(
    benchmark: Benchmark,
    config: Config,
    server: ScriptedServer,
    tmp_path: Path,
    go: Go,
    pieces: list[tuple[float, float]],
    pad: float,
    frames: int,
    times: list[float],
) -> None:
    first = benchmark.questions[0]
    spans = tuple(first.evidence[0].model_copy(update={"span": Span(*p)}) for p in pieces)
    asked = benchmark.model_copy(
        update={"questions": (first.model_copy(update={"evidence": spans}),)}
    )
    only = config.model_copy(
        update={
            "settings": ("video@evidence",),
            "strategies": {"evidence-frames": {"pad": pad, "frames": frames}},
        }
    )
    assert go(asked, only, tmp_path / "run").by_status == {"parsed": 1}
    (sent,) = server.requests
    frame_times = [float(t) for t in re.findall(r"\[0:0(\d(?:\.\d)?)\]", sent.text)]
    assert (frame_times, len(sent.images)) == (times, len(times))


def test_a_question_without_evidence_is_no_error_of_an_oracle(
    benchmark: Benchmark, config: Config, tmp_path: Path, go: Go
) -> None:
    bare = tuple(q.model_copy(update={"evidence": ()}) for q in benchmark.questions)
    only = config.model_copy(update={"settings": ("video@evidence",)})
    outcome = go(benchmark.model_copy(update={"questions": bare}), only, tmp_path / "run")
    assert outcome.by_status == {"abstained": 5}
