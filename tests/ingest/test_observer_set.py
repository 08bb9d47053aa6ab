"""Who observes, with and without a captioner."""

import pytest

from egomem.config import load_settings
from egomem.ingest import choose_observers
from egomem.models import ModelClient
from egomem.observe import TemplateCaptioner, Window
from egomem.observe.captioner import Captioner
from egomem.records import Observation, Track


class Watcher:
    track = Track(source="object", observer="watcher")

    async def observe(self, window: Window) -> list[Observation]:
        return []


@pytest.fixture(autouse=True)
def parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("egomem.ingest.observer_set.DEFAULT_OBSERVERS", (Watcher(),))


def test_without_a_captioner_captions_are_composed_and_it_is_said() -> None:
    chosen = choose_observers(None, window=2, fps=1)
    assert [type(o) for o in chosen.observers.frames] == [Watcher, TemplateCaptioner]
    assert chosen.concurrency == 1
    assert "vision-language model would see more" in chosen.notes[-1]


def test_a_captioner_takes_the_place_of_composed_captions() -> None:
    settings = load_settings(model={"captioner": "ollama:x"}, concurrency=5)
    chosen = choose_observers(ModelClient.from_settings(settings), window=2, fps=1)
    assert [type(o) for o in chosen.observers.frames] == [Watcher, Captioner]
    assert chosen.concurrency == 5
    assert chosen.notes == ()
