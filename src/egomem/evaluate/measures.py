"""What was measured of an answer, apart from what it says.

Seconds, tokens as a server counted them, money, and whether a reply came out of the cache differ
between two runs that give the same answers. Kept apart, the answers of two such runs are the same
bytes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import JsonValue

from egomem.records import Answer, Usage

MEASURED = ("usage", "cached", "seconds", "server_version")
"""The fields of a step of a trace that are measured."""


def servers_of(answers: Iterable[Answer]) -> dict[str, list[str]]:
    """Each model as its server names it, with the versions that the server reports."""
    servers: dict[str, dict[str, None]] = {}
    for answer in answers:
        for step in answer.trace:
            if isinstance(step, dict) and step.get("step") == "asked" and step.get("model"):
                versions = servers.setdefault(str(step["model"]), {})
                if step.get("server_version"):
                    versions[str(step["server_version"])] = None
    return {model: list(versions) for model, versions in servers.items()}


def measures_of(answer: Answer) -> dict[str, Any]:
    """The measured part of an answer: `{"usage": ..., "trace": {number of a step: ...}}`."""
    steps = {
        str(number): fields
        for number, step in enumerate(answer.trace)
        if isinstance(step, dict) and (fields := {k: step[k] for k in MEASURED if k in step})
    }
    return {"usage": answer.usage.model_dump(mode="json"), "trace": steps}


def without_measures(answer: Answer) -> dict[str, Any]:
    """An answer as JSON without its measured part."""
    fields = answer.model_dump(mode="json", exclude={"usage"})
    for step in fields["trace"]:
        for name in MEASURED if isinstance(step, dict) else ():
            step.pop(name, None)
    return fields


def with_measures(answer: Answer, measures: Mapping[str, Any]) -> Answer:
    """The whole answer: the inverse of `without_measures` and `measures_of`."""
    by_step: Mapping[str, dict[str, JsonValue]] = measures.get("trace", {})
    trace = tuple(
        {**step, **by_step.get(str(number), {})} if isinstance(step, dict) else step
        for number, step in enumerate(answer.trace)
    )
    usage = Usage.model_validate(measures.get("usage", {}))
    return answer.model_copy(update={"usage": usage, "trace": trace})


def reply_keys(*answers: Answer | None) -> list[str]:
    """The cache keys of the requests behind answers."""
    return [
        str(step["key"])
        for answer in answers
        for step in (answer.trace if answer else ())
        if isinstance(step, dict) and step.get("step") == "asked" and step.get("key")
    ]


def ascii_json(value: object) -> str:
    """One line of JSON in ASCII, so that no character of a reply ends a line for any reader."""
    return json.dumps(value, ensure_ascii=True)
