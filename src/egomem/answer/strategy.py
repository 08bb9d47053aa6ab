"""A strategy is one async function `(task) -> Answer`; this is its frame and its registry.

A strategy reads the memory through `task.view` alone, so it cannot see past the question's time.
It registers under a name, with the model of its settings and the facts that others need of it:

    class MySettings(ReaderSettings):
        window: float = 30.0

    @register("mine", MySettings, reads=("caption",), prompts=(PROMPT,))
    async def mine(task: Task[MySettings]) -> Answer:
        '''One line that `egomem plugins` shows.'''

Nothing outside knows a strategy by its name: whether its answers still hold, whether it can run,
what it will take and how its replies are read again follows from what it declares (`register`).

Other packages add theirs by an entry point of the group `egomem.strategies`, whose name is the
strategy's and whose object is the module that registers it, or the function (see
`egomem.plugins`).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, Literal, Protocol, TypeVar

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from egomem.answer.estimate import Effort, Estimate, Outlook, one_request
from egomem.errors import ConfigError
from egomem.hashing import FINGERPRINT_LENGTH, hash_json
from egomem.models import Limits, Role
from egomem.plugins import Registry
from egomem.records import Answer, Question, Source

if TYPE_CHECKING:
    from egomem.media import Frame
    from egomem.memory import View
    from egomem.models import ModelClient


class StrategySettings(BaseModel):
    """What a strategy's settings derive from: frozen, and an unknown setting is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class ReaderSettings(StrategySettings):
    """How a reader is asked.

    `format`: `scores` asks for JSON with a number for each option; `letter` for a letter alone;
    `logprobs` for a letter, and takes the scores from the probabilities of the first token where
    the server gives them. `abstain`: the reader may say that it cannot be told (leave it off to
    force a choice, as the papers' protocols do). `cite`: the reader also names the evidence of its
    answer; without, `letter` asks for the letter alone, as CapMem does. `max_tokens`: of the reply,
    thinking included.
    """

    format: Literal["scores", "letter", "logprobs"] = "scores"
    abstain: bool = True
    cite: bool = True
    max_tokens: int = Field(default=2048, ge=1)


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

Texts = Callable[[Question, Any], Sequence[str]]
"""All texts that a strategy writes to a model beside the question: (question, settings)."""

Reread = Callable[[Question, Answer, Any, Mapping[str, Answer]], Answer | None]
"""What the raw replies of an answer's trace say now: (question, answer, settings, answers of the
strategies that it starts from). None where the trace holds no reply that can be read."""

Reads = Source | Literal["frames"]

NeededLimits = Callable[[Question, Any, Limits], Limits]
"""The limits of a request as far as they change it: (question, settings, limits)."""


@dataclass(frozen=True, slots=True)
class Strategy:
    """A registered strategy: call `run(task)`. `summary` is the first line of its docstring; the
    other fields are what it declares, see `register`."""

    name: str
    settings: type[BaseModel]
    run: Run
    summary: str
    roles: tuple[Role, ...] = ()
    looker: Role = Role.READER
    reads: frozenset[Reads] | None = None
    starts_from: tuple[str, ...] = ()
    run_decides: tuple[str, ...] = ()
    texts: Texts | None = None
    version: str = ""
    oracle: bool = False
    reread: Reread | None = None
    estimate: Estimate | None = None
    needed_limits: NeededLimits | None = None

    @property
    def looks(self) -> bool:
        """Whether it says that it looks at frames, and so cannot answer without them."""
        return "frames" in (self.reads or ())

    @property
    def may_look(self) -> bool:
        """Whether frames may have been shown for an answer: where it does not say, they may."""
        return self.looks or (self.reads is None and bool(self.roles))

    @property
    def blind(self) -> bool:
        """Whether nothing of the memory is read, neither by it nor by what it starts from."""
        return all(each.reads is not None and not each.reads for each in lineage(self.name))

    def sources(self, settings: BaseModel) -> frozenset[Source] | None:
        """The sources of the observations that it reads; None where it may read all.

        Settings with a field `sources` say it themselves; an empty one limits nothing.
        """
        if self.reads is None:
            return None
        chosen = getattr(settings, "sources", None)
        if chosen:
            return frozenset(chosen)
        return frozenset(name for name in self.reads if name != "frames")

    def effort(self, outlook: Outlook) -> Effort:
        """What one question takes of this strategy, without those that it starts from."""
        if self.estimate is not None:
            return self.estimate(outlook)
        if not self.roles:
            return Effort()
        return one_request(outlook, looker=self.looker if self.may_look else None)

    @property
    def identity(self) -> str:
        """What tells this code from that of an earlier release.

        The declared version; else, for egomem's own, nothing: their prompts and settings say it;
        for one with declared prompts, the release of its package; for one that declares neither,
        its package's release and files.
        """
        if self.version or self.name in STRATEGIES.builtin:
            return self.version
        if self.texts is not None:
            return str(STRATEGIES.origin(self.name))
        return STRATEGIES.code(self.name)

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
            fields = ", ".join(sorted(self.settings.model_fields)) or "none"
            raise ConfigError(
                f"strategy {self.name}: {where}: {first['msg']}", f"its settings are: {fields}"
            ) from fault


STRATEGIES = Registry(
    "egomem.strategies",
    "strategy",
    Strategy,
    {
        "clean": "egomem.answer.clean:clean",
        "video": "egomem.answer.video:video",
        "caption": "egomem.answer.caption:caption",
        "retrieve": "egomem.answer.retrieve:retrieve",
        "verify": "egomem.answer.verify.strategy:verify",
        "extractive": "egomem.answer.extractive.reader:extractive",
        "evidence-captions": "egomem.answer.oracle:captions",
        "evidence-frames": "egomem.answer.oracle:frames",
    },
)

F = TypeVar("F", bound=Callable[..., Awaitable[Answer]])


class PromptLike(Protocol):
    """A system text with a name and version."""

    @property
    def name(self) -> str: ...

    @property
    def system(self) -> str: ...


def register(
    name: str,
    settings: type[BaseModel] = StrategySettings,
    *,
    reads: Iterable[Reads] | None = None,
    roles: Iterable[Role] | None = None,
    looker: Role = Role.READER,
    starts_from: Iterable[str] = (),
    run_decides: Iterable[str] = (),
    prompts: Texts | Iterable[PromptLike | str] | None = None,
    version: str = "",
    oracle: bool = False,
    reread: Reread | None = None,
    estimate: Estimate | None = None,
    needed_limits: NeededLimits | None = None,
) -> Callable[[F], F]:
    """Register the decorated function as a strategy, with the facts that others need of it.

    `reads`: the sources whose observations it reads, and "frames" where it looks at them; () for
    the question alone. Without it, all of the memory is taken to be read.
    `roles`: of models that it asks; without it, the reader where `settings` are `ReaderSettings`.
    `looker`: the role that is shown frames.
    `starts_from`: strategies whose answers it gets from `task.memo`.
    `run_decides`: settings that an evaluation fills, of "track", "window", "frames", "fps", "side";
    those of `ReaderSettings` it fills always.
    `prompts`: every text that it writes to a model, or a function that gives them for a question
    and settings. A changed text is asked again.
    `version`: to be changed with the code, where that changes answers. Without it and `prompts`,
    any change of the package's files counts as one.
    `oracle`: it is shown the key's evidence, and only bounds the others.
    `reread`: reads stored replies again, see `egomem.answer.reader.reread_reply`.
    `estimate`: what one question takes; without it, one request with all that is read.
    `needed_limits`: the limits of requests as far as they change them.

    Raises ConfigError where the name is taken, or a declared setting is none.
    """
    reader = issubclass(settings, ReaderSettings)
    decided = (*(ReaderSettings.model_fields if reader else ()), *run_decides)
    if unknown := [f for f in decided if f not in settings.model_fields]:
        raise ConfigError(
            f"strategy {name}: run_decides names {unknown[0]}, which is no setting of it",
            f"its settings are: {', '.join(sorted(settings.model_fields)) or 'none'}",
        )
    texts = prompts if prompts is None or callable(prompts) else _constant(tuple(prompts))

    def add(run: F) -> F:
        strategy = Strategy(
            name,
            settings,
            run,
            summary=(run.__doc__ or "").strip().partition("\n")[0],
            roles=((Role.READER,) if reader else ()) if roles is None else tuple(roles),
            looker=looker,
            reads=None if reads is None else frozenset(reads),
            starts_from=tuple(starts_from),
            run_decides=decided,
            texts=texts,
            version=version,
            oracle=oracle,
            reread=reread,
            estimate=estimate,
            needed_limits=needed_limits,
        )
        STRATEGIES.add(name, strategy, run.__module__)
        return run

    return add


def _constant(prompts: Sequence[PromptLike | str]) -> Texts:
    """The same texts for every question."""
    texts = [t for p in prompts for t in ((p,) if isinstance(p, str) else (p.name, p.system))]
    return lambda question, settings: texts


def get(name: str) -> Strategy:
    """The strategy of that name. Raises UsageError where unknown, ConfigError where broken."""
    return STRATEGIES.get(name)


def strategies() -> dict[str, Strategy]:
    """All strategies by name: ours first, then those of other packages, each in name order.

    A package whose strategy cannot be loaded is warned of and left out; `get` says why.
    """
    return STRATEGIES.all()


def lineage(name: str, below: tuple[str, ...] = ()) -> list[Strategy]:
    """The strategies that one starts from, in the order in which they answer, and itself last.

    Raises UsageError for an unknown one, ConfigError where one starts from itself.
    """
    if name in below:
        raise ConfigError(f"strategy {name} starts from itself: {' -> '.join((*below, name))}")
    strategy = get(name)
    chain: dict[str, Strategy] = {}
    for start in strategy.starts_from:
        chain |= {each.name: each for each in lineage(start, (*below, name))}
    return [*chain.values(), strategy]


def settings_hash(name: str, settings: BaseModel) -> str:
    """16 hex digits of SHA-256 over the strategy's name and all its settings, defaults too, but for
    the default of `cite`."""
    values = settings.model_dump(mode="json")
    if isinstance(settings, ReaderSettings) and settings.cite:
        del values["cite"]  # answers of versions without it still hold
    content = {"strategy": name, "settings": values}
    return hash_json(content)[:FINGERPRINT_LENGTH]
