"""A strategy is one async function `(task) -> Answer`; this is its frame and its register.

A strategy reads the memory through `task.view` alone, so it cannot see past the question's time.
It registers under a name, with the model of its settings:

    class MySettings(Settings):
        window: float = 30.0

    @register("mine", MySettings)
    async def mine(task: Task[MySettings]) -> Answer:
        '''One line that `egomem plugins` shows.'''

Other packages add theirs by an entry point of the group `egomem.strategies`, whose name is the
strategy's and whose object is the module that registers it, or the function (see
`egomem.plugins`).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from pydantic import BaseModel, ConfigDict, JsonValue, ValidationError

from egomem.errors import ConfigError
from egomem.hashing import FINGERPRINT_LENGTH, hash_json
from egomem.plugins import Registry
from egomem.records import Answer, Question

if TYPE_CHECKING:
    from egomem.media import Frame
    from egomem.memory import View
    from egomem.models import ModelClient


class Settings(BaseModel):
    """What a strategy's settings derive from: frozen, and an unknown setting is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


S = TypeVar("S", bound=BaseModel, covariant=True)


class FrameSource(Protocol):
    """Frames of a recording of the view: ascending `times` in seconds, longest side in pixels.

    Blocking (it decodes): call it in a thread. Raises MediaError where the file is gone.
    """

    def __call__(
        self, recording: str, times: Sequence[float], side: int | None = None
    ) -> Iterable[Frame]: ...


@dataclass(frozen=True, slots=True)
class Budget:
    """What one question may use; None is no limit. `cost` is in US dollars."""

    requests: int | None = None
    frames: int | None = None
    tokens: int | None = None
    cost: float | None = None


@dataclass(frozen=True)
class Task(Generic[S]):
    """One question, and everything that a strategy may use to answer it.

    `view` ends at the question's time. `frames` is None where the videos are not at hand. `memo`
    gives another strategy's answer to the same question; it is computed once, so `verify` starts
    from the very answer that a table reports for `caption`. `trace` collects steps as JSON values.
    """

    question: Question
    view: View
    settings: S
    models: ModelClient | None = None
    embedder: Any = None
    frames: FrameSource | None = None
    memo: Callable[[str], Awaitable[Answer]] | None = None
    budget: Budget = Budget()
    trace: list[JsonValue] = field(default_factory=list)

    def note(self, step: str, **facts: JsonValue) -> None:
        """Add a step to the trace: what was looked at, decided or left out, and why."""
        self.trace.append({"step": step, **facts})


Run = Callable[[Task[Any]], Awaitable[Answer]]


@dataclass(frozen=True, slots=True)
class Strategy:
    """A registered strategy: call `run(task)`. `summary` is the first line of its docstring."""

    name: str
    settings: type[BaseModel]
    run: Run
    summary: str

    def configure(self, values: Mapping[str, Any] | BaseModel | None = None) -> BaseModel:
        """The strategy's settings from a mapping, or as given. Raises ConfigError, in one line."""
        if isinstance(values, self.settings):
            return values
        raw = values.model_dump() if isinstance(values, BaseModel) else dict(values or {})
        try:
            return self.settings.model_validate(raw)
        except ValidationError as fault:
            first = fault.errors()[0]
            where = ".".join(str(part) for part in first["loc"]) or "settings"
            known = ", ".join(sorted(self.settings.model_fields)) or "none"
            raise ConfigError(
                f"strategy {self.name}: {where}: {first['msg']}", f"its settings are: {known}"
            ) from fault


STRATEGIES = Registry(
    "egomem.strategies",
    "strategy",
    Strategy,
    {
        "clean": "egomem.answer.clean:clean",
        "video": "egomem.answer.video:video",
        "caption": "egomem.answer.caption:caption",
        "verify": "egomem.answer.verify:verify",
        "extractive": "egomem.answer.extractive.reader:extractive",
    },
)

F = TypeVar("F", bound=Callable[..., Awaitable[Answer]])


def register(name: str, settings: type[BaseModel] = Settings) -> Callable[[F], F]:
    """Register the decorated function as a strategy. Raises ConfigError where the name is taken."""

    def add(run: F) -> F:
        summary = (run.__doc__ or "").strip().partition("\n")[0]
        STRATEGIES.add(name, Strategy(name, settings, run, summary), run.__module__)
        return run

    return add


def get(name: str) -> Strategy:
    """The strategy of that name. Raises UsageError where unknown, ConfigError where broken."""
    return STRATEGIES.get(name)


def strategies() -> dict[str, Strategy]:
    """All strategies by name: ours first, then those of other packages, each in name order.

    A package whose strategy cannot be loaded is warned of and left out; `get` says why.
    """
    return STRATEGIES.all()


def settings_hash(name: str, settings: BaseModel) -> str:
    """16 hex digits of SHA-256 over the strategy's name and all its settings, defaults too."""
    content = {"strategy": name, "settings": settings.model_dump(mode="json")}
    return hash_json(content)[:FINGERPRINT_LENGTH]
