"""Words of instruction, and of what any answer is, do not make an answer abstain."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import egomem
from egomem.records import Observation, Recording, Source
from egomem.timeline import Span

WALK: tuple[tuple[float, str, Source], ...] = (
    (0, "I tie my horse to a green fence on Quarry Lane", "caption"),
    (20, "FERRY 07:40", "screen_text"),
    (60, "I pay for three lemons at the stall", "caption"),
)


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[egomem.Memory]:
    with egomem.open(tmp_path_factory.mktemp("walk")) as opened:
        opened.store.put_recording(Recording(id="walk", name="walk.mp4", duration=120))
        opened.store.add(
            Observation(
                recording="walk",
                span=Span(start, start + 8),
                text=text,
                source=source,
                track=f"{source}/test",
            )
            for start, text, source in WALK
        )
        yield opened


@pytest.mark.parametrize(
    ("question", "quote"),
    [
        ("What colour was the fence?", "green fence"),
        ("What color is the fence, maybe?", "green fence"),
        ("On which street is the fence?", "Quarry Lane"),
        ("What is the name of the street with the fence?", "Quarry Lane"),
        ("What did the street sign say?", "FERRY"),
        ("Where is the ferry sign?", "FERRY"),
        ("Can you tell me, from my recordings, where I tied the horse?", "horse"),
        ("Look in the recordings: how many lemons did I pay for?", "3"),
        ("What do the recordings show about the lemons?", "lemons"),
    ],
)
def test_what_is_said_to_us_is_not_looked_for(
    memory: egomem.Memory, question: str, quote: str
) -> None:
    answer = memory.ask(question)
    assert not answer.abstained, answer.reason
    assert quote in answer.text


@pytest.mark.parametrize(
    ("question", "missing"),
    [
        ("What colour was the gate?", "gate"),
        ("What colour are the lemons?", "colour"),
        ("On which street is the stall?", "street"),
        ("What did the hotel sign say?", "hotel"),
        ("Please tell me where my saddle is", "saddle"),
    ],
)
def test_what_is_asked_for_and_missing_still_is(
    memory: egomem.Memory, question: str, missing: str
) -> None:
    answer = memory.ask(question)
    assert answer.abstained, answer.text
    assert missing in answer.reason
