"""egomem turns long first-person video into a memory that answers with evidence and times.

    import egomem

    memory = egomem.open("my-memory")
    memory.ingest("day1.mp4", start="2026-03-02T08:10+01:00")
    answer = memory.ask("Where did I leave my keys?")
    print(answer.text, answer.evidence)

Names are loaded when they are first used, so that importing egomem is quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from egomem.answer import ChoiceReading as ChoiceReading
    from egomem.answer import read_choice as read_choice
    from egomem.api import Memory as Memory
    from egomem.api import open_memory as open  # noqa: F401
    from egomem.errors import EgomemError as EgomemError
    from egomem.recall import Hit as Hit
    from egomem.records import Answer as Answer
    from egomem.records import Evidence as Evidence
    from egomem.records import Observation as Observation
    from egomem.records import Option as Option
    from egomem.records import Question as Question
    from egomem.records import Recording as Recording
    from egomem.records import Status as Status
    from egomem.records import Usage as Usage
    from egomem.timeline import Clock as Clock
    from egomem.timeline import RecordingTime as RecordingTime
    from egomem.timeline import Span as Span

_HOME = {
    "Answer": "egomem.records",
    "ChoiceReading": "egomem.answer",
    "Clock": "egomem.timeline",
    "EgomemError": "egomem.errors",
    "Evidence": "egomem.records",
    "Hit": "egomem.recall",
    "Memory": "egomem.api",
    "Observation": "egomem.records",
    "Option": "egomem.records",
    "Question": "egomem.records",
    "Recording": "egomem.records",
    "RecordingTime": "egomem.timeline",
    "Span": "egomem.timeline",
    "Status": "egomem.records",
    "Usage": "egomem.records",
    "open": "egomem.api",
    "read_choice": "egomem.answer",
}

__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module 'egomem' has no attribute {name!r}")
    value = getattr(import_module(home), "open_memory" if name == "open" else name)
    globals()[name] = value
    return value
