"""Guided inspections beside random ones and a single pass, and what each of them sees."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from egomem.media import Frame
from egomem.models import ImagePart, ModelClient
from egomem.observe.active import ActiveCaptioner, CaptionBudget, caption_actively, caption_once
from egomem.observe.active import files as active_files
from egomem.observe.active.equal_compute import caption_at_random
from egomem.observe.active.files import InstalledTools, compare_captions, tools_for
from egomem.observe.active.state import Drafted, Inspected
from egomem.observe.caption_prompt import PROMPT, WHOLE_INSTRUCTIONS, WHOLE_PROMPT
from egomem.observe.window import Window
from egomem.records import Recording
from egomem.timeline import Span

Make = Callable[..., Any]
NOTHING = InstalledTools(None, None, None, ())


def curious() -> dict[str, Any]:
    """A planner that looks at another corner in each round, and never learns a thing."""
    rounds = iter(range(100))

    def plan(asked: Any) -> Any:
        k = next(rounds)
        look = {"tool": "crop", "start": 3 + k, "end": 3 + k, "boxes": [[0, 0, 0.25, 0.5]]}
        gap = {
            "kind": "observation", "concern": "omission", "change": f"name thing {k}",
            "claim": None, "priority": 0.9, "evidence": [], "look": look,
        }  # fmt: skip
        return {"gaps": [gap]}

    return {"plan": plan}


def pictures(request: Any) -> list[float]:
    return [p.time for p in request.parts if isinstance(p, ImagePart)]


def test_random_inspections_cost_what_the_guided_ones_did_elsewhere(
    make_tools: Make, scripted: Make
) -> None:
    budget = CaptionBudget(rounds=3)
    backend, _ = scripted(**curious())
    guided = asyncio.run(caption_actively(make_tools(), backend, budget=budget))
    backend, models = scripted(**curious())
    at_random = asyncio.run(caption_at_random(make_tools(), backend, guided, seed=4))
    assert guided.state.looks > 1
    assert at_random.state.looks == guided.state.looks
    assert at_random.state.pictures == guided.state.pictures
    assert at_random.usage.frames == guided.usage.frames
    spent, limit = (r.state.usage.tokens_in + r.state.usage.tokens_out for r in (at_random, guided))
    assert spent <= limit
    assert at_random.draft == guided.draft
    assert not any(r.prompt in (PROMPT, WHOLE_PROMPT) for r in models.asked)  # drafted once
    here, there = (
        [e.look for e in run.log.events if isinstance(e, Inspected) and not e.cached]
        for run in (guided, at_random)
    )
    assert [look.tool for look in here] == [look.tool for look in there]
    assert all(a.start != b.start and a.boxes != b.boxes for a, b in zip(here, there, strict=True))
    for look in there:
        ((left, top, right, bottom),) = look.boxes
        assert 0 <= left < right <= 1
        assert (right - left, bottom - top) == pytest.approx((0.25, 0.5))
        assert 0 <= look.start == look.end <= 20
    again = asyncio.run(caption_at_random(make_tools(), scripted(**curious())[0], guided, seed=4))
    assert again == at_random
    other = asyncio.run(caption_at_random(make_tools(), scripted(**curious())[0], guided, seed=5))
    assert other != at_random


def test_all_three_ways_see_as_many_frames(
    make_video: Make, scripted: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, models = scripted(**curious())
    backends: list[bool] = []
    build = active_files.VlmBackend

    def built(client: Any, **options: Any) -> Any:
        backends.append(options["whole"])
        return build(models, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(active_files, "VlmBackend", built)
    runs = asyncio.run(
        compare_captions(
            make_video("a.mp4", seconds=30),
            models=cast(ModelClient, _Closing(models)),
            budget=CaptionBudget(rounds=2),
            parts=NOTHING,
        )
    )
    assert list(runs) == ["active", "random", "direct"]
    assert all(backends)
    frames = {name: run.usage.frames for name, run in runs.items()}
    assert frames["active"] == frames["random"] == frames["direct"] > 7
    drafts = [r for r in models.asked if r.prompt == WHOLE_PROMPT]
    assert len(drafts) == 2  # that of active and random, and that of direct
    assert {r.system for r in drafts} == {WHOLE_INSTRUCTIONS}
    assert len(pictures(drafts[1])) == frames["direct"]


class _Closing:
    """A client that is closed at the end, around scripted models."""

    def __init__(self, models: Any) -> None:
        self.models = models

    async def __aenter__(self) -> Any:
        return self.models

    async def __aexit__(self, *exc: object) -> None:
        return None

    def has(self, role: Any) -> bool:
        return True


@pytest.mark.parametrize(("seconds", "most", "count"), [(9, 128, 10), (9, 6, 6), (2, 1, 1)])
def test_a_single_pass_has_a_frame_budget_of_its_own(
    make_video: Make, scripted: Make, seconds: int, most: int, count: int
) -> None:
    tools = tools_for(make_video("a.mp4", seconds=seconds), NOTHING, direct_frames=most)
    backend, models = scripted()
    done = asyncio.run(caption_once(tools, backend))
    times = pictures(models.asked[0])
    assert len(times) == done.usage.frames == count
    assert times[0] == 0
    if count > 1:
        assert times[-1] > seconds - 1
        assert max(b - a for a, b in pairwise(times)) < 1.01 * max(1, seconds / (count - 1))


def test_the_draft_of_a_window_sees_all_of_its_frames(scripted: Make, tmp_path: Path) -> None:
    frames = tuple(Frame(t, t, np.full((48, 64, 3), 9, np.uint8)) for t in range(30))
    recording = Recording(id="r", name="r.mp4", duration=30.0)
    window = Window(recording=recording, span=Span(0, 30), frames=frames)
    _, models = scripted()
    (caption,) = asyncio.run(ActiveCaptioner(cast(ModelClient, models), window=30).observe(window))
    draft = next(r for r in models.asked if r.prompt == PROMPT)
    assert pictures(draft) == list(range(30))
    assert caption.provenance is not None
    assert set(caption.provenance.frames) >= set(range(30))


def test_a_log_without_frames_of_its_draft_is_read() -> None:
    older = Drafted(lines=()).model_dump(exclude={"frames"})
    assert Drafted.model_validate(older).frames == 0
