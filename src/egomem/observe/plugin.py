"""What an observer declares, and the register of those that are installed.

An observer turns the frames of a window, or the sound of a recording, into observations. Its
declaration says what it emits and reads, how it is made and set, and what it needs; nothing outside
asks for one by name. egomem's own stand in `OBSERVERS`; other packages add theirs by an entry point
of the group `egomem.observers` whose object is an `ObserverPlugin` (see docs/how-to/extend.md).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable

from pydantic import BaseModel, ConfigDict, ValidationError

from egomem.defaults import CAPTION_TOKENS, DEFAULT_FPS, DEFAULT_WINDOW
from egomem.errors import ConfigError, EgomemError
from egomem.extras import are_installed
from egomem.media import AudioBlock
from egomem.media.streams import RecordingStreams, StreamKind
from egomem.observe.window import Window
from egomem.plugins import Registry
from egomem.records import Observation, Recording, Source, Track, Usage

if TYPE_CHECKING:
    from egomem.models import ModelClient
    from egomem.models.weights import WeightsOrigin

StreamInput = Literal[
    "stream:gaze", "stream:imu", "stream:trajectory", "stream:points", "stream:gps"
]

Input = Literal["frames", "audio"] | StreamInput | Source
"""What an observer reads: the window's frames, the recording's audio, a kind of stream beside the
recording, or earlier observations of a source, which it finds in `Window.context`."""


@runtime_checkable
class FrameObserver(Protocol):
    """Turns a window into observations. It knows no store, and never sees a question.

    `track` names all that decides what it emits: two settings are two tracks, so that a changed
    one is observed anew and the other stays. It raises WindowFailed where the window is finished
    without an observation; after any other error the next run tries the window again. One that
    sets a limit to replies has it as `max_tokens`: windows that were cut off at a lower one are
    observed again.
    """

    @property
    def track(self) -> Track: ...

    async def observe(self, window: Window) -> list[Observation]: ...


@runtime_checkable
class SoundObserver(Protocol):
    """Hears a recording from start to end, whatever its windows, in stretches of its own choice.

    Blocks may begin in the middle of a recording; times are seconds of the recording all the same.
    """

    @property
    def track(self) -> Track: ...

    def hear(
        self, blocks: Iterable[AudioBlock], recording: Recording
    ) -> Iterator[tuple[float, list[Observation]]]:
        """Yield the end of each stretch with its observations. An observer that is stopped at such
        an end goes on from there as it would have without a stop."""
        ...


@runtime_checkable
class StreamObserver(Protocol):
    """Follows the streams beside a recording: gaze, motion, position.

    `kinds`: those that it can use; it runs where the recording has at least one of them. Streams
    are observed after the sound and before the windows. A changed file of one of its kinds is
    observed again, beside what was observed of the earlier one.
    """

    @property
    def track(self) -> Track: ...

    @property
    def kinds(self) -> tuple[StreamKind, ...]: ...

    def follow(
        self, streams: RecordingStreams, recording: Recording
    ) -> Iterator[tuple[float, list[Observation]]]:
        """Yield the end (s) of each stretch with its observations, stretches in order. Stopped in
        between, it is run again from the start, and must then observe the same."""
        ...


AnyObserver = FrameObserver | SoundObserver | StreamObserver


@runtime_checkable
class FetchesWeights(Protocol):
    """An observer with weights that are fetched before its first use."""

    def prepare(self) -> WeightsOrigin:
        """Fetch the weights unless they are here; return where they came from."""
        ...


@runtime_checkable
class AsksModel(Protocol):
    """An observer that may ask a model: it estimates the cost before, and counts it."""

    @property
    def asks(self) -> bool:
        """False where no model is configured, and it works without."""
        ...

    @property
    def concurrency(self) -> int:
        """Windows that it may observe at once."""
        ...

    def plan(self, recordings: Iterable[Recording], window: float) -> str:
        """The most that these recordings will take, in a line; "" where no model is asked."""
        ...

    @property
    def usage(self) -> Usage:
        """What its requests have used so far."""
        ...


@dataclass(frozen=True, slots=True)
class ObserverSetup:
    """What an observer is made from, beside its own settings.

    `window`: seconds; `fps`: frames a second that it is given. `models`: None where no model is
    configured. `transcriber`: the spec of that role. `budget`: US dollars that its requests may
    cost; `max_tokens`: of one reply. `earlier`: the observers made before it, which observe each
    window before it does.
    """

    window: float = DEFAULT_WINDOW
    fps: float = DEFAULT_FPS
    models: ModelClient | None = None
    transcriber: str = "embedded"
    budget: float | None = None
    max_tokens: int = CAPTION_TOKENS
    earlier: Sequence[AnyObserver] = ()


class NoSettings(BaseModel):
    """The settings of an observer without any."""

    model_config = ConfigDict(frozen=True, extra="forbid")


@dataclass(frozen=True, slots=True, kw_only=True)
class ObserverPlugin:
    """The declaration of an observer.

    `summary`: one line on what it observes. `source`: of all its observations. `reads`: see
    `Input`; it observes after those whose sources it reads. `make`: setup and settings -> observer.
    `settings`: a pydantic model with a default for each field; a field that changes what is
    observed must change the track. `modules`: what must be importable; `install`: the line that
    installs them. `weights`: a line on its weights, which must not fetch them.
    """

    summary: str
    source: Source
    reads: tuple[Input, ...]
    make: Callable[[ObserverSetup, Any], AnyObserver]
    settings: type[BaseModel] = NoSettings
    modules: tuple[str, ...] = ()
    install: str = ""
    weights: Callable[[], str] = field(default=lambda: "")

    def create(
        self, name: str, setup: ObserverSetup, values: Mapping[str, Any] | None = None
    ) -> AnyObserver:
        """The observer, with `values` as its settings; `name` is for messages.

        Raises EgomemError where something that it needs is missing, and ConfigError where a
        setting is wrong or the observer is not what it declares.
        """
        if not self.installed:
            raise EgomemError(
                f"{' or '.join(self.modules)} is not installed", f"run: {self.install}"
            )
        try:
            settings = self.settings.model_validate(dict(values or {}))
        except ValidationError as fault:
            first = fault.errors()[0]
            where = ".".join(str(part) for part in first["loc"]) or "settings"
            fields = ", ".join(sorted(self.settings.model_fields)) or "none"
            raise ConfigError(
                f"observer {name}: {where}: {first['msg']}", f"its settings are: {fields}"
            ) from fault
        observer = self.make(setup, settings)
        if observer.track.source != self.source:
            raise ConfigError(
                f"observer {name} declares the source {self.source}, and its track has "
                f"{observer.track.source}",
                "fix the package that provides it",
            )
        return observer

    @property
    def installed(self) -> bool:
        return are_installed(*self.modules)


OBSERVERS = Registry(
    "egomem.observers",
    "observer",
    ObserverPlugin,
    {
        "speech": "egomem.observe.speech:SPEECH",
        "text": "egomem.observe.screen_text:SCREEN_TEXT",
        "objects": "egomem.observe.objects:OBJECTS",
        "composed": "egomem.observe.template_captioner:COMPOSED",
        "caption": "egomem.observe.captioner:CAPTION",
        "active": "egomem.observe.active.observer:ACTIVE",
    },
)
"""The observers of egomem and of installed packages, by name."""
