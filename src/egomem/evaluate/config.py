"""What a run is: settings, models, decoding, frame limits. Its hash names the run in a report."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Any, Literal

from pydantic import BaseModel, Field, JsonValue

from egomem.answer import settings_hash
from egomem.answer.strategy import get
from egomem.defaults import CAPTION_TOKENS, DEFAULT_FPS, MAX_DIRECT_FRAMES, MAX_FRAMES
from egomem.errors import ConfigError
from egomem.evaluate.conditions import Condition, read_conditions
from egomem.hashing import FINGERPRINT_LENGTH, hash_json, hash_text
from egomem.models import DEFAULT_LIMITS, Limits, Role
from egomem.models.limits import read_limits
from egomem.records import Record

BYTES = 100_000_000
"""Bytes of frames in one request at most; 768 frames of 512 pixels are some 25 MB."""


class Shard(Record):
    """Part `index` of `count`, counting from 1; videos are dealt out in turn."""

    index: int = Field(ge=1)
    count: int = Field(ge=1)

    def __str__(self) -> str:
        return f"{self.index}/{self.count}"


class Arm(Record):
    """A setting, who reads, and whose captions are read; a column of the tables."""

    setting: str
    reader: str = ""
    captioner: str = ""

    @property
    def label(self) -> str:
        who = self.reader or "no model"
        by = f", captions by {self.captioner}" if self.captioner not in ("", self.reader) else ""
        return f"{self.setting} ({who}{by})"


class Config(Record):
    """What decides a run's answers, and how they are gathered.

    `captioners` empty: each reader reads captions of its own. `cross`: every captioner's captions
    are read by every reader. `frames`: of a direct request at most; `frame_limits` holds what a
    model takes, where that is less. `format`, `abstain`, `cite` and `max_tokens` are the reader's;
    the temperature is 0 and each question is one turn without examples. `gate`: a reader outside of
    [`gate_low`, `gate_high`] on `clean` goes no further ("stop"), or is reported ("report").
    `caption_tokens`: of a caption at most. `given_limits` changes a part of the limits of requests
    by role (captioner, verifier, reader), `fit` leaves frames out of requests that go over them.
    `track` names one of the captions of a given memory. `strategies` holds settings of strategies
    beyond those that follow from the rest, by the strategy's name. `shuffle_options`: the seed by
    which options get other letters; None leaves them. `whole_frames`: of a caption of a whole video
    at most.
    """

    protocol: str = "capmem"
    settings: tuple[str, ...]
    readers: tuple[str, ...] = ()
    captioners: tuple[str, ...] = ()
    verifier: str | None = None
    cross: bool = False
    format: Literal["letter", "scores", "logprobs"] = "letter"
    abstain: bool = False
    cite: bool = True
    max_tokens: int = Field(default=2048, ge=1)
    caption_tokens: int = Field(default=CAPTION_TOKENS, ge=1)
    given_limits: dict[str, dict[str, float]] = Field(default_factory=dict)
    fit: bool = False
    frames: int = Field(default=MAX_FRAMES, ge=1)
    frame_limits: dict[str, int] = Field(default_factory=dict)
    whole_frames: int = Field(default=MAX_DIRECT_FRAMES, ge=1)
    side: int = Field(default=DEFAULT_LIMITS[Role.READER].side, ge=1)
    fps: float = Field(default=DEFAULT_FPS, gt=0)
    gate: Literal["stop", "report"] = "stop"
    gate_low: float = 0.15
    gate_high: float = 0.35
    track: str | None = None
    strategies: dict[str, dict[str, JsonValue]] = Field(default_factory=dict)
    given_memory: bool = False
    shuffle_options: int | None = None
    limit: int | None = Field(default=None, ge=1)
    shard: Shard | None = None

    @cached_property
    def conditions(self) -> tuple[Condition, ...]:
        return read_conditions(self.settings)

    @property
    def hash(self) -> str:
        """16 hex digits over all of it but the shard: the shards of one run share it."""
        content = self.model_dump(mode="json", exclude={"shard"})
        if self.shuffle_options is None:
            del content["shuffle_options"]  # runs of versions without it keep their hash
        if self.cite:
            del content["cite"]  # likewise
        if self.whole_frames == MAX_DIRECT_FRAMES:
            del content["whole_frames"]  # likewise
        return hash_json(content, spaced=True)[:FINGERPRINT_LENGTH]

    def checked(self) -> Config:
        """This configuration. Raises ConfigError where its parts do not go together."""
        conditions = self.conditions
        if any(w.asks for w in conditions) and not self.readers:
            raise ConfigError("no reader is named", "give one: --model reader=ollama:qwen3-vl:8b")
        captioned = any(w.captioned for w in conditions)
        if self.given_memory and self.captioners:
            raise ConfigError(
                "a memory and a captioner are both given", "captions come from one of the two"
            )
        if self.track and not self.given_memory:
            raise ConfigError(
                "--track names captions of a memory, and none is given",
                "give it with --memory, or leave --track out",
            )
        made = [w.name for w in conditions if w.captions in ("aligned", "whole")]
        if made and self.given_memory:
            raise ConfigError(
                f"the captions of {', '.join(made)} are made by a captioner", "leave --memory out"
            )
        if any(w.captions == "held" for w in conditions) and not self.given_memory:
            names = ", ".join(w.name for w in conditions if w.captions == "held")
            raise ConfigError(
                f"the setting {names} reads a memory", "give one with --memory, or name a window"
            )
        if len(self.captioners) > 1 and not self.cross:
            raise ConfigError("several captioners are named", "add --cross to pair all with all")
        if self.cross and not (self.captioners and captioned):
            raise ConfigError("--cross needs captioners", "--model captioner=A,B and caption@30")
        for reader in self.readers:
            self.limits(reader)
        self._check_strategies()
        if self.shard and self.shard.index > self.shard.count:
            raise ConfigError(f"there is no shard {self.shard}", "count from 1: --shard 1/4")
        if self.shard and self.gate == "stop" and any(w.judges_bias for w in conditions):
            raise ConfigError(
                "a shard cannot judge the gate, which is over all questions", "add --gate report"
            )
        return self

    def _check_strategies(self) -> None:
        """Raises ConfigError for a setting that is none, or that the run decides itself."""
        decided: dict[str, set[str]] = {}
        for arm in self.arms():
            for name, values in self._decided(arm, None).items():
                decided.setdefault(name, set()).update(values)
        for name, values in self.strategies.items():
            if name not in decided:
                used = ", ".join(decided)
                raise ConfigError(f"no setting of this run uses {name}", f"it uses {used}")
            if double := sorted(decided[name] & set(values)):
                raise ConfigError(
                    f"--set {name}.{double[0]}: the run decides this itself",
                    "there is an option or a part of --settings for it; see --help",
                )
            get(name).configure(values)

    def arms(self) -> list[Arm]:
        """Every arm, setting by setting."""
        arms = []
        for condition in self.conditions:
            for reader in self.readers if condition.asks else ("",):
                makes = condition.captioned and not self.given_memory
                who: tuple[str, ...] = (self.captioners or (reader,)) if makes else ("",)
                arms += [Arm(setting=condition.name, reader=reader, captioner=c) for c in who]
        return arms

    def condition(self, arm: Arm) -> Condition:
        return next(w for w in self.conditions if w.name == arm.setting)

    def bases(self, arm: Arm) -> dict[str, Arm]:
        """The arms whose answers an arm starts from, by strategy; those that it makes itself
        are not in it."""
        condition = self.condition(arm)
        bases: dict[str, Arm] = {}
        for strategy in condition.lineage[:-1]:
            for other in self.arms():
                if self._gives(other, strategy.name, arm):
                    bases.setdefault(strategy.name, other)
        return bases

    def _gives(self, other: Arm, strategy: str, arm: Arm) -> bool:
        """Whether an arm holds the answers of a strategy that another one would make itself."""
        base, condition = self.condition(other), self.condition(arm)
        if base.strategy != strategy or base.evidence != condition.evidence:
            return False
        if base.asks and other.reader != arm.reader:
            return False
        if base.captions == "none":
            return True
        same = (base.captions, base.window) == (condition.captions, condition.window)
        return same and other.captioner == arm.captioner

    def in_order(self, arms: Iterable[Arm]) -> list[Arm]:
        """Arms such that each comes after those that it starts from, else as they are."""
        return sorted(arms, key=lambda arm: len(self.condition(arm).lineage))

    def frame_limit(self, reader: str) -> int:
        """Frames that a reader is shown at once."""
        most = self.given_limits.get("reader", {}).get("images", self.frames)
        return min(self.frames, self.frame_limits.get(reader, self.frames), max(1, int(most)))

    def whole_frame_limit(self, reader: str) -> int:
        """Frames of a caption of a whole video at most."""
        return min(self.whole_frames, max(1, self.limits(reader)[Role.CAPTIONER].images))

    def limits(self, reader: str) -> dict[Role, Limits]:
        """The limits of requests; those of the reader follow from the frame limit, unless given.

        Raises ConfigError for a given one that is none.
        """
        pixels = self.side * self.side
        captioning = DEFAULT_LIMITS[Role.CAPTIONER]
        longest = max((w.window or 0 for w in self.conditions), default=0) * self.fps
        images = max(captioning.images, int(longest) + 1)
        if any(w.captions == "whole" for w in self.conditions):
            images = max(images, self.whole_frames)
        base = {
            Role.READER: Limits(
                side=self.side, pixels=pixels, images=self.frame_limit(reader), bytes=BYTES
            ),
            Role.VERIFIER: DEFAULT_LIMITS[Role.VERIFIER],
            Role.CAPTIONER: captioning.model_copy(update={"images": images, "bytes": BYTES}),
        }
        limits = read_limits(self.given_limits, fit=self.fit or None, base=base)
        return {role: limits[role] for role in base}

    def strategy_settings(self, arm: Arm, track: str | None) -> dict[str, dict[str, Any]]:
        """The settings of the arm's strategy, and of those that it builds on, by name."""
        decided = self._decided(arm, track)
        return {n: {**values, **self.strategies.get(n, {})} for n, values in decided.items()}

    def _decided(self, arm: Arm, track: str | None) -> dict[str, dict[str, Any]]:
        """What the run decides of the settings, as each strategy declares that it may."""
        condition = self.condition(arm)
        values: dict[str, Any] = {
            "format": self.format,
            "abstain": self.abstain,
            "cite": self.cite,
            "max_tokens": self.max_tokens,
            "track": track,
            "frames": self.frame_limit(arm.reader),
            "fps": self.fps,
            "side": self.side,
        }
        if condition.window is not None:
            values["window"] = condition.window
        return {
            strategy.name: {f: values[f] for f in strategy.run_decides if f in values}
            for strategy in reversed(condition.lineage)
        }

    def configured(self, arm: Arm, track: str | None) -> dict[str, BaseModel]:
        """The same as models of settings. Raises ConfigError for a value that is none."""
        settings = self.strategy_settings(arm, track)
        return {name: get(name).configure(values) for name, values in settings.items()}

    def strategy_hash(self, arm: Arm, track: str | None) -> str:
        """Over the strategy's settings, defaults too, and those that it builds on."""
        settings = self.configured(arm, track)
        each = [settings_hash(name, settings[name]) for name in sorted(settings)]
        return hash_text("+".join(each))[:FINGERPRINT_LENGTH]
