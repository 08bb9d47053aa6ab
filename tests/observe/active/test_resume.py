"""A run is a log: saved after every event, resumed from any of them, replayed without a model."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from egomem.observe.active import (
    CaptionLog,
    Scene,
    caption_actively,
    caption_once,
    load_log,
    replay,
    save_log,
    states,
)
from egomem.observe.active.state import Diagnosed
from egomem.observe.active.trace import as_html, as_json, as_text
from egomem.timeline import Span

Make = Callable[..., Any]


def lively() -> dict[str, Any]:
    """Answers that make a few rounds: a look that finds something, and a revision that tells it."""
    gap = {
        "kind": "observation", "concern": "omission", "change": "name the thing at the left",
        "claim": None, "priority": 0.9, "evidence": [],
        "look": {"tool": "crop", "start": 5, "end": 5, "boxes": [[0, 0, 0.5, 0.5]]},
    }  # fmt: skip

    def revise(asked: Any) -> Any:
        ids = [row.split(" ")[0] for row in asked.text.splitlines() if "a blue cup" in row]
        text = "a blue cup stands left"
        new = {"start": 4, "end": 6, "text": text, "claims": [{"text": text, "evidence": ids}]}
        return {"lines": [*asked.lines, new]}

    return {
        "plan": lambda asked: {"gaps": [gap]},
        "look": lambda asked: {
            "seen": "a blue cup stands left", "conclusive": True, "verdict": "supported",
            "confidence": 0.9,
        },
        "revise": revise,
    }  # fmt: skip


def test_a_run_goes_on_from_any_event_to_the_same_end(
    make_tools: Make, scripted: Make, tmp_path: Path
) -> None:
    kept: list[CaptionLog] = []
    backend, _ = scripted(**lively())
    done = asyncio.run(
        caption_actively(make_tools(), backend, on_event=lambda log, state: kept.append(log))
    )
    assert "a blue cup stands left" in done.caption
    assert len(kept) == len(done.log.events) > 5
    for log in kept:
        save_log(log, tmp_path / "run.json")
        backend, models = scripted(**lively())
        again = asyncio.run(
            caption_actively(make_tools(), backend, resume=load_log(tmp_path / "run.json"))
        )
        assert again == done
    assert not models.asked, "a finished run asks nobody"
    assert [p.name for p in tmp_path.iterdir()] == ["run.json"]


def test_a_log_replays_without_a_model(make_tools: Make, scripted: Make) -> None:
    backend, _ = scripted(**lively())
    done = asyncio.run(caption_actively(make_tools(), backend))
    log = CaptionLog.model_validate_json(done.log.model_dump_json())
    assert replay(log) == done
    assert states(log)[-1] == done.state


def test_the_trace_tells_every_round(make_tools: Make, scripted: Make) -> None:
    backend, _ = scripted(**lively())
    tools = make_tools()
    done = asyncio.run(caption_actively(tools, backend))
    lines = as_text(done)
    for part in ("Draft from 5 coarse frames", "Round 1", "Stopped: no open gap"):
        assert part in lines
    assert any("Look for g" in line and "crop 0:05" in line for line in lines)
    assert any(line.strip().startswith("+ a blue cup stands left [by e") for line in lines)
    document = as_json(done)
    assert json.loads(json.dumps(document))["frames"] == {"coarse": 5, "extra": 1}
    page = as_html(done, tools)
    assert page.count("<img ") >= 1
    assert "a blue cup stands left" in page


def test_the_page_escapes_what_the_video_says(make_tools: Make, scripted: Make) -> None:
    backend, _ = scripted(draft=lambda asked: "[0:01] <script>alert(1)</script> a ball")
    done = asyncio.run(caption_actively(make_tools(), backend))
    assert "<script>" not in as_html(done)


def test_a_single_pass_says_the_draft_and_checks_nothing(make_tools: Make, scripted: Make) -> None:
    backend, models = scripted()
    done = asyncio.run(caption_once(make_tools(), backend))
    assert done.caption == done.draft != ""
    assert len(models.asked) == 1
    assert done.state.stop is not None


@pytest.mark.parametrize("rounds", [0, 1, 2])
def test_rounds_are_bounded(make_tools: Make, scripted: Make, rounds: int) -> None:
    from egomem.observe.active import CaptionBudget

    backend, _ = scripted(**lively())
    done = asyncio.run(caption_actively(make_tools(), backend, budget=CaptionBudget(rounds=rounds)))
    assert done.state.round <= rounds


def test_a_log_that_calls_obsolete_gaps_moot_is_read() -> None:
    scene = Scene(recording="r", name="a.mp4", span=Span(0, 4))
    log = CaptionLog(scene=scene, backend="any", events=(Diagnosed(obsolete=("g1",)),))
    older = log.model_dump_json().replace('"obsolete"', '"moot"')
    assert '"moot"' in older
    assert CaptionLog.model_validate_json(older) == log
