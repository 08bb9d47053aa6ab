"""Choosing the observers of a run: by name, as objects, or the default ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

from egomem.defaults import CAPTION_TOKENS
from egomem.errors import EgomemError, UsageError
from egomem.extras import install_line
from egomem.ingest.job import Observers
from egomem.models import ModelClient, Role
from egomem.models.weights import WeightsOrigin, new_notices
from egomem.observe import (
    OBSERVERS,
    AnyObserver,
    AsksModel,
    FetchesWeights,
    FrameObserver,
    ObserverPlugin,
    ObserverSetup,
    SoundObserver,
    StreamObserver,
)
from egomem.records import Recording, Usage

Caption = Literal["direct", "active"]
"""How the default captioner works: in a single pass, or by checking and looking again."""

ALL_DEFAULTS = "default"
"""Among the names of observers, stands for the default ones and their captioner."""

DEFAULT_OBSERVERS: tuple[str | AnyObserver, ...] = ("speech", "text", "objects")
"""Observe beside the captioner; one that is not installed is left out, with a note."""

VLM_SEES_MORE = (
    "captions are composed from detected objects, read text and recognised speech; a vision-"
    "language model would see more (--model captioner=SPEC, see docs/how-to/models.md)"
)


@dataclass(frozen=True, slots=True)
class ObserverSet:
    """The observers of a run, and what a user should know of them.

    `concurrency`: windows that they may observe at once.
    """

    observers: Observers
    concurrency: int = 1
    notes: tuple[str, ...] = ()
    asking: tuple[AsksModel, ...] = ()

    def plan(self, recordings: Sequence[Recording], window: float) -> str:
        """What these recordings will cost in model requests, in a line; "" where nothing is."""
        return "; ".join(filter(None, (o.plan(recordings, window) for o in self.asking)))

    @property
    def usage(self) -> Usage:
        """What the observers' requests have used so far."""
        return sum((observer.usage for observer in self.asking), Usage())


class _Choice(NamedTuple):
    """An observer to be made, or (`plugin` None) one that was given as an object. `optional`: it
    is left out where it cannot be made."""

    name: str
    plugin: ObserverPlugin | None
    given: AnyObserver | None
    optional: bool

    @property
    def source(self) -> str:
        if self.plugin is not None:
            return self.plugin.source
        assert self.given is not None
        return self.given.track.source

    @property
    def reads(self) -> tuple[str, ...]:
        return self.plugin.reads if self.plugin else ()


def choose_observers(
    models: ModelClient | None,
    *,
    window: float,
    fps: float,
    observers: Sequence[str | AnyObserver] = (ALL_DEFAULTS,),
    settings: Mapping[str, Mapping[str, Any]] | None = None,
    budget: float | None = None,
    caption: Caption = "direct",
    max_tokens: int = CAPTION_TOKENS,
    transcriber: str = "embedded",
) -> ObserverSet:
    """Make the observers that are named, in an order in which each finds what it reads.

    `observers`: names of `egomem.observe.OBSERVERS`, objects, and "default" for speech, screen
    text and objects with a captioner: the model in that role, or composed captions without one;
    with `caption` "active", one that checks its captions. `settings`: by name, of observers that
    are named. `window`: seconds; `fps`: frames a second. `budget`: US dollars for requests.
    `max_tokens`: of a caption. `transcriber`: `whisper:NAME`, a folder, or `embedded`.

    Raises UsageError for an unknown name or setting, and EgomemError where a named observer cannot
    run here, or none of the default ones can.
    """
    captioner = _captioner(models, caption)
    if caption == "active" and ALL_DEFAULTS not in observers:
        raise UsageError(
            "--caption active chooses the captioner of the default observers",
            "name `active` among the observers, or `default`",
        )
    choices = _ordered(list(_choices(observers, captioner)))
    values = settings or {}
    if unused := sorted(set(values) - {choice.name for choice in choices}):
        raise UsageError(
            f"there are settings of {', '.join(unused)}, which does not observe",
            f"the observers are: {', '.join(choice.name for choice in choices)}",
        )
    setup = ObserverSetup(
        window=window,
        fps=fps,
        models=models,
        transcriber=transcriber,
        budget=budget,
        max_tokens=max_tokens,
    )
    all_observers: list[AnyObserver] = []
    lacking: list[str] = []
    origins: list[WeightsOrigin] = []
    for choice in choices:
        emitted = {observer.track.source for observer in all_observers}
        # Composed captions without any observer to compose from would be empty in every window.
        if choice.optional and choice.reads and not _is_fed(choice, emitted):
            continue  # nobody emits anything that it reads
        try:
            observer = _make(
                choice, replace(setup, earlier=tuple(all_observers)), values.get(choice.name)
            )
            if isinstance(observer, FetchesWeights):
                origins.append(observer.prepare())
        except EgomemError as error:
            # A part that is not installed is no reason to refuse an ingest; a wrong setting is.
            if not choice.optional or isinstance(error, UsageError):
                raise
            lacking.append(f"{choice.name}: {error}")
            continue
        all_observers.append(observer)
    if not all_observers:
        raise EgomemError(
            f"no observer is available: {'; '.join(lacking)}",
            f"run: {install_line('embedded')}, or give a --model captioner=SPEC",
        )
    _check_distinct(all_observers)
    asking = tuple(o for o in all_observers if isinstance(o, AsksModel))
    notes = new_notices(origins) + [f"without {line}" for line in lacking]
    if ALL_DEFAULTS in observers and not any(observer.asks for observer in asking):
        notes.append(VLM_SEES_MORE)
    return ObserverSet(
        Observers(
            sound=tuple(o for o in all_observers if isinstance(o, SoundObserver)),
            frames=tuple(o for o in all_observers if isinstance(o, FrameObserver)),
            streams=tuple(o for o in all_observers if isinstance(o, StreamObserver)),
        ),
        max((observer.concurrency for observer in asking), default=1),
        tuple(notes),
        asking,
    )


class ObserverSets:
    """Makes observers, and makes equal ones once: their models take long to load."""

    def __init__(self) -> None:
        self._by_choice: dict[str, ObserverSet] = {}

    def choose(
        self, models: ModelClient | None, *, observers: Sequence[str | AnyObserver], **choice: Any
    ) -> ObserverSet:
        """As `choose_observers`."""
        # Settings are plain values, so their text tells equal choices.
        key = repr((observers, choice))
        observer_set = self._by_choice.get(key)
        if observer_set is None:
            observer_set = choose_observers(models, observers=observers, **choice)
        # An observer that asks a model counts the cost of a single ingest.
        if not observer_set.asking and all(isinstance(observer, str) for observer in observers):
            self._by_choice[key] = observer_set
        return observer_set


def _is_fed(choice: _Choice, emitted: Iterable[str]) -> bool:
    """Whether anything that it reads may be there."""
    return any(
        entry in ("frames", "audio", *emitted) or entry.startswith("stream:")
        for entry in choice.reads
    )


def _captioner(models: ModelClient | None, caption: Caption) -> str:
    """The default captioner."""
    if caption == "active":
        return "active"
    return "caption" if models is not None and models.has(Role.CAPTIONER) else "composed"


def _choices(observers: Iterable[str | AnyObserver], captioner: str) -> Iterator[_Choice]:
    for entry in observers:
        if entry == ALL_DEFAULTS:
            for default in DEFAULT_OBSERVERS:
                yield _choice(default, optional=True)
            yield _choice(captioner, optional=captioner == "composed")
        else:
            yield _choice(entry, optional=False)


def _choice(entry: str | AnyObserver, *, optional: bool) -> _Choice:
    if isinstance(entry, str):
        return _Choice(entry, OBSERVERS.get(entry), None, optional)
    if not isinstance(entry, FrameObserver | SoundObserver | StreamObserver):
        raise UsageError(
            f"{type(entry).__name__} is no observer",
            "it needs a `track`, and `observe`, `hear` or `follow`: see docs/how-to/extend.md",
        )
    return _Choice(type(entry).__name__, None, entry, optional)


def _make(choice: _Choice, setup: ObserverSetup, values: Mapping[str, Any] | None) -> AnyObserver:
    if choice.plugin is not None:
        return choice.plugin.create(choice.name, setup, values)
    assert choice.given is not None
    return choice.given


def _ordered(choices: list[_Choice]) -> list[_Choice]:
    """The choices, each once, behind those whose sources it reads; else as they are named."""
    rest = list({id(c.given) if c.given else c.name: c for c in choices}.values())
    ordered: list[_Choice] = []
    while rest:
        ready = (
            choice
            for choice in rest
            if not any(other is not choice and other.source in choice.reads for other in rest)
        )
        # In the order that the user gave as far as what they read allows.
        first = next(ready, rest[0])  # two that read each other go as they are named
        rest.remove(first)
        ordered.append(first)
    return ordered


def _check_distinct(observers: Sequence[AnyObserver]) -> None:
    tracks = [observer.track.id for observer in observers]
    for track in tracks:
        # Both would write under one name, and each would take the other's windows for finished.
        if tracks.count(track) > 1:
            raise UsageError(
                f"two observers have the track {track}", "leave one out, or set it otherwise"
            )
