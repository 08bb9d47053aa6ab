"""Who observes, with and without a captioner."""

import pytest

from egomem.config import load_settings
from egomem.ingest import choose_observers
from egomem.models import models_of
from egomem.observe import Embedded, TemplateCaptioner, Window
from egomem.observe.captioner import Captioner
from egomem.records import Observation, Track


class Watcher:
    track = Track(source="object", observer="watcher")

    async def observe(self, window: Window) -> list[Observation]:
        return []


@pytest.fixture(autouse=True)
def parts(monkeypatch: pytest.MonkeyPatch) -> None:
    found = Embedded(None, (Watcher(), TemplateCaptioner(2)), (), ())
    monkeypatch.setattr("egomem.ingest.observer_set.embedded_observers", lambda **_: found)


def test_without_a_captioner_captions_are_composed_and_it_is_said() -> None:
    chosen = choose_observers(None, window=2, fps=1)
    assert [type(o) for o in chosen.observers.frames] == [Watcher, TemplateCaptioner]
    assert chosen.ahead == 1
    assert "vision-language model would see more" in chosen.notes[-1]


def test_a_captioner_takes_the_place_of_composed_captions() -> None:
    settings = load_settings(model={"captioner": "ollama:x"}, concurrency=5)
    chosen = choose_observers(models_of(settings), window=2, fps=1)
    assert [type(o) for o in chosen.observers.frames] == [Watcher, Captioner]
    assert chosen.ahead == 5
    assert chosen.notes == ()
