"""One video file -> an active (or single-pass) caption, with whatever tools are installed here."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from egomem.defaults import MAX_DIRECT_FRAMES
from egomem.errors import MissingExtraError, UsageError, WeightsError
from egomem.hashing import recording_id
from egomem.media import content_hash, probe
from egomem.models import ModelClient, Role
from egomem.observe.active.embedded_backend import EmbeddedBackend
from egomem.observe.active.equal_compute import caption_at_random
from egomem.observe.active.failures import answered_part, require_caption
from egomem.observe.active.loop import (
    CaptionBackend,
    CaptionRun,
    OnEvent,
    caption_actively,
    caption_once,
    load_log,
    replay,
    save_log,
)
from egomem.observe.active.retrieval import Retriever
from egomem.observe.active.state import CaptionBudget, CaptionLog, CaptionState, Scene
from egomem.observe.active.tools import Tools, file_frames
from egomem.observe.active.vlm_backend import VlmBackend
from egomem.observe.object_detector import Detector
from egomem.observe.screen_text import ScreenText
from egomem.observe.speech import Speech
from egomem.timeline import Span

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class InstalledTools:
    """The tools that can run here; `missing`: why others cannot, and what installs them."""

    detector: Detector | None
    reader: ScreenText | None
    listener: Speech | None
    missing: tuple[str, ...]


def installed_tools(*, speech: str = "base") -> InstalledTools:
    """Return the detector, text recogniser and speech recogniser; their weights are fetched."""
    missing: list[str] = []
    detector = _made(lambda: Detector(squares=False), missing)
    reader = _made(ScreenText, missing)
    listener = _made(lambda: Speech(speech), missing)
    return InstalledTools(detector, reader, listener, tuple(missing))


def _made(make: Callable[[], T], missing: list[str]) -> T | None:
    try:
        part = make()
        if isinstance(part, Detector | Speech):
            part.prepare()
        return part
    except (MissingExtraError, WeightsError) as error:
        missing.append(str(error))
        return None


DIRECT_FPS = 1.0
DIRECT_SIDE = 512
"""Longest side of its frames in pixels: it cannot look closer later."""


def tools_for(
    path: Path,
    parts: InstalledTools,
    *,
    retriever: Retriever | None = None,
    direct_frames: int | None = None,
) -> Tools:
    """What can be inspected of a video file. `direct_frames`: frames of a single pass at most."""
    direct: dict[str, Any] = {}
    if direct_frames is not None:
        direct = {
            "coarse_step": 1 / DIRECT_FPS,
            "max_coarse": direct_frames,
            "coarse_side": DIRECT_SIDE,
        }
    facts = probe(path)
    if facts.video is None:
        raise UsageError(f"{path.name} has no picture to caption", "name a video file")
    scene = Scene(
        recording=recording_id(content_hash(path)), name=path.name, span=Span(0.0, facts.duration)
    )
    return Tools(
        scene,
        file_frames(path),
        path=path,
        detector=parts.detector,
        reader=parts.reader,
        listener=parts.listener if facts.audio else None,
        retriever=retriever,
        **direct,
    )


def backend_for(models: ModelClient | None, budget: CaptionBudget) -> CaptionBackend:
    """Return a model's backend if one fills the captioner role, else the embedded observers'."""
    if models is not None and models.has(Role.CAPTIONER):
        return VlmBackend(models, tokens=budget.tokens, whole=True)
    return EmbeddedBackend()


async def caption_file(
    path: Path,
    *,
    models: ModelClient | None = None,
    active: bool = True,
    budget: CaptionBudget | None = None,
    parts: InstalledTools | None = None,
    retriever: Retriever | None = None,
    direct_frames: int = MAX_DIRECT_FRAMES,
    log: Path | None = None,
    on_event: OnEvent = lambda log, state: None,
) -> CaptionRun:
    """Caption a whole file, actively or in a single pass of at most `direct_frames` frames.

    `log`: where the run is saved after every event; a log of the same run that is already there is
    continued: behind its last answered request, if it has no caption for want of a reply. Raises
    UsageError if the log is of another run, ModelError if there is no caption because a model did
    not reply.
    """
    budget = budget or CaptionBudget()
    parts = parts or installed_tools()
    backend = backend_for(models, budget)
    if not active:
        tools = tools_for(path, parts, retriever=retriever, direct_frames=direct_frames)
        return require_caption(await caption_once(tools, backend))
    tools = tools_for(path, parts, retriever=retriever)
    earlier = load_log(log) if log is not None and log.is_file() else None
    if earlier is not None:
        _is_of(earlier, tools.scene, backend, budget, log)
        if not replay(earlier).caption:
            earlier = answered_part(earlier)
        tools.scene = earlier.scene

    def saved(now: CaptionLog, state: CaptionState) -> None:
        if log is not None:
            save_log(now, log)
        on_event(now, state)

    run = await caption_actively(tools, backend, budget=budget, resume=earlier, on_event=saved)
    return require_caption(run, logged=log is not None)


async def caption_and_close(
    path: Path, *, models: ModelClient | None, **options: Any
) -> CaptionRun:
    """Return one caption and close `models`. `options` are those of `caption_file`."""
    async with models or nullcontext():
        return await caption_file(path, models=models, **options)


async def compare_captions(
    path: Path,
    *,
    models: ModelClient | None = None,
    budget: CaptionBudget | None = None,
    parts: InstalledTools | None = None,
    retriever: Retriever | None = None,
    log: Path | None = None,
    seed: int = 0,
) -> dict[str, CaptionRun]:
    """Return three captions of equal compute and close `models`: guided inspections (`active`),
    `random` ones, and a single pass over as many frames (`direct`)."""
    budget = budget or CaptionBudget()
    parts = parts or installed_tools()
    async with models or nullcontext():
        options: dict[str, Any] = {
            "models": models, "budget": budget, "parts": parts, "retriever": retriever,
        }  # fmt: skip
        active = await caption_file(path, log=log, **options)
        at_random = await caption_at_random(
            tools_for(path, parts, retriever=retriever),
            backend_for(models, budget),
            active,
            seed=seed,
        )
        direct = await caption_file(
            path, active=False, direct_frames=active.usage.frames, **options
        )
    return {"active": active, "random": at_random, "direct": direct}


def _is_of(
    earlier: CaptionLog,
    scene: Scene,
    backend: CaptionBackend,
    budget: CaptionBudget,
    path: Path | None,
) -> None:
    same = (
        earlier.scene.recording == scene.recording
        and earlier.backend == backend.name
        and earlier.budget == budget
    )
    if not same:
        raise UsageError(
            f"{path} is the log of another run", "name another file, or delete this one"
        )
