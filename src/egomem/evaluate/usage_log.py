"""What was measured of an answer, apart from what was said: `usage.jsonl` beside `answers.jsonl`.

Seconds, tokens as a server counted them, money, the instant, and whether a reply came out of the
cache differ between two runs that say the same. With them in a file of their own, `answers.jsonl`
of two such runs is the same bytes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pydantic import JsonValue

from egomem.records import Answer, Usage

NAME = "usage.jsonl"
STEP = ("usage", "cached", "seconds")
"""What a step of a trace may hold that is measured."""


def taken_out(answer: Answer) -> dict[str, Any]:
    """What was measured of an answer: `{"usage": ..., "trace": {number of a step: ...}}`."""
    steps = {
        str(number): held
        for number, step in enumerate(answer.trace)
        if isinstance(step, dict) and (held := {k: step[k] for k in STEP if k in step})
    }
    return {"usage": answer.usage.model_dump(mode="json"), "trace": steps}


def without(answer: Answer) -> dict[str, Any]:
    """An answer as JSON without what was measured."""
    said = answer.model_dump(mode="json", exclude={"usage"})
    for step in said["trace"]:
        for name in STEP if isinstance(step, dict) else ():
            step.pop(name, None)
    return said


def put_back(answer: Answer, measured: Mapping[str, Any]) -> Answer:
    """The answer whole again."""
    more: Mapping[str, dict[str, JsonValue]] = measured.get("trace", {})
    trace = tuple(
        {**step, **more.get(str(number), {})} if isinstance(step, dict) else step
        for number, step in enumerate(answer.trace)
    )
    usage = Usage.model_validate(measured.get("usage", {}))
    return answer.model_copy(update={"usage": usage, "trace": trace})


def keys_of(*answers: Answer | None) -> list[str]:
    """The cache keys of the requests behind answers."""
    return [
        str(step["key"])
        for answer in answers
        for step in (answer.trace if answer else ())
        if isinstance(step, dict) and step.get("step") == "asked" and step.get("key")
    ]


def packed(value: object) -> str:
    """One line of JSON in ASCII: no character of a reply can end it for any reader."""
    return json.dumps(value, ensure_ascii=True)
