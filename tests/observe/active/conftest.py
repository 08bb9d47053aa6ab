"""A made-up scene, and a model that says whatever a test wants."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import pytest

from egomem.media import Frame
from egomem.models import Limits, ModelClient, ModelSpec, Reply, Request, Role, find_json
from egomem.observe.active import Scene, Tools, VlmBackend, prompts
from egomem.records import Status, Usage
from egomem.timeline import Span


@dataclass(frozen=True)
class Asked:
    """A request as a scripted model reads it: its text, the (id, text) of the claims listed in it,
    and those claims as lines of a caption (a reviser that gives them back changes nothing)."""

    request: Request

    @property
    def text(self) -> str:
        return "\n".join(p.text for p in self.request.parts if hasattr(p, "text"))

    @property
    def claims(self) -> list[tuple[str, str]]:
        rows = [row for row in self.text.splitlines() if row[:1] == "c" and " [" in row]
        return [(row.split(" ", 1)[0], row.split(": ", 1)[1]) for row in rows]

    @property
    def lines(self) -> list[Any]:
        return [
            {"start": 0, "end": 20, "text": text, "claims": [{"text": text, "evidence": []}]}
            for _, text in self.claims
        ]


Answer = Callable[[Asked], Any]


class Scripted:
    """In the place of `ModelClient`: an answer for each prompt, and the requests that came."""

    def __init__(self, answers: dict[str, Answer], *, tokens: int = 100) -> None:
        self.answers, self.tokens = answers, tokens
        self.asked: list[Request] = []

    def has(self, role: Role) -> bool:
        return True

    def spec(self, role: Role) -> ModelSpec:
        return ModelSpec("ollama", "scripted", "")

    def limits(self, role: Role) -> Limits:
        return Limits()

    def estimate(self, request: Request, tokens_out: int = 150) -> Usage:
        return Usage(tokens_in=self.tokens)

    async def ask(self, request: Request) -> Reply:
        self.asked.append(request)
        reply = self.answers[kind_of(request)](Asked(request))
        usage = Usage(requests=1, tokens_in=self.tokens, tokens_out=self.tokens)
        if isinstance(reply, Reply):
            return reply
        if request.schema is None:
            return Reply(status=Status.PARSED, text=reply, usage=usage)
        parsed = find_json(reply if isinstance(reply, str) else json.dumps(reply), request.schema)
        if parsed.value is None:
            return Reply(status=Status.UNPARSABLE, detail=parsed.problem, usage=usage)
        return Reply(status=Status.PARSED, text="{}", data=parsed.value, usage=usage)


def kind_of(request: Request) -> str:
    kinds = {
        prompts.ATOMIZE: "atomize",
        prompts.CHECK: "check",
        prompts.PLAN: "plan",
        prompts.LOOK: "look",
        prompts.REVISE: "revise",
    }
    return kinds.get(request.system, "draft")


def grey_source(times: Sequence[float], side: int | None) -> Iterable[Frame]:
    for t in times:
        yield Frame(t, t, np.full((48, 64, 3), 40, np.uint8))


@pytest.fixture
def scene() -> Scene:
    return Scene(recording="rec", name="rec.mp4", span=Span(0, 20))


@pytest.fixture
def make_tools(scene: Scene) -> Callable[..., Tools]:
    def make(**parts: Any) -> Tools:
        return Tools(scene, parts.pop("source", grey_source), **parts)

    return make


TRUE = "a red ball lies on the table"


def honest() -> dict[str, Answer]:
    """A model that tells the truth about one thing: a red ball lies on the table."""

    def atomize(asked: Asked) -> Any:
        rows = [line.split(": ", 1) for line in asked.text.splitlines()]
        return {"claims": [{"line": int(k), "text": text} for k, text in rows]}

    def check(asked: Asked) -> Any:
        return {
            "claims": [
                {
                    "id": id,
                    "seen": TRUE if text.lower().rstrip(".") == TRUE else "a table",
                    "verdict": "supported" if text.lower().rstrip(".") == TRUE else "absent",
                    "times": [0, 5],
                }
                for id, text in asked.claims
            ]
        }

    return {
        "draft": lambda asked: f"[0:00-0:20] {TRUE.capitalize()}.",
        "atomize": atomize,
        "check": check,
        "plan": lambda asked: {"gaps": []},
        "look": lambda asked: {
            "seen": "nothing to tell",
            "conclusive": False,
            "verdict": "unclear",
            "confidence": 0.1,
        },
        "revise": lambda asked: {"lines": asked.lines},
    }


@pytest.fixture
def scripted() -> Callable[..., tuple[VlmBackend, Scripted]]:
    def make(tokens: int = 200_000, **answers: Answer) -> tuple[VlmBackend, Scripted]:
        models = Scripted({**honest(), **answers})
        return VlmBackend(cast(ModelClient, models), tokens=tokens), models

    return make
