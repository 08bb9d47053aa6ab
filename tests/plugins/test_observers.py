"""What every observer must keep: egomem's own, and one of another package.

The models under egomem's own are pretended, and everything above them is real: they run through
`Memory.ingest`, by name, as a user's do.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import egomem
from egomem.config import load_settings
from egomem.errors import ConfigError, ModelError, UsageError
from egomem.ingest import choose_observers
from egomem.models import ModelClient
from egomem.observe import (
    OBSERVERS,
    FrameObserver,
    ObserverPlugin,
    ObserverSetup,
    SoundObserver,
    Window,
    WindowFailed,
)
from egomem.observe.asr_filter import SpeechSegment
from egomem.observe.object_detector import Detection
from egomem.records import Observation, Status, Track
from egomem.testing.scripted_replies import Rule, Script
from egomem.testing.scripted_server import ScriptedServer

PAGE = Path(__file__).resolve().parents[2] / "docs" / "how-to" / "extend.md"
GROUP = "egomem.observers"
BUILTIN = list(OBSERVERS.builtin)
FOREIGN = "brightness"
MakeVideo = Callable[..., Path]


def from_page(language: str, section: str) -> str:
    """The first block of a language in a section of the page."""
    text = PAGE.read_text("utf-8").split(f"## {section}", 1)[1]
    match = re.search(rf"```{language}\n(.*?)```", text, re.DOTALL)
    assert match is not None
    return match[1]


@pytest.fixture
def foreign(install: Any) -> Iterator[str]:
    """The observer of the page, installed as the page says."""
    head, point = from_page("toml", "An observer").strip().split("\n")
    assert head == f'[project.entry-points."{GROUP}"]'
    install("my_observers", from_page("python", "An observer"), GROUP, point.replace('"', ""))
    yield FOREIGN
    OBSERVERS.discard(FOREIGN)


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer(Script(rules=(Rule(reply="[0:01] A grey wall."),))) as running:
        yield running


@pytest.fixture
def models(server: ScriptedServer) -> ModelClient:
    return ModelClient.from_settings(
        load_settings(model={"captioner": f"openai-compatible:fake@{server.url}"})
    )


@pytest.fixture(autouse=True)
def _pretended_models(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every model sees, reads and hears the same thing all the time; none is fetched."""
    corners = np.array([[5, 5], [40, 5], [40, 15], [5, 15]], np.float32)
    line = SimpleNamespace(txts=("EXIT 42",), scores=(0.99,), boxes=corners[None])
    cup = Detection("cup", 0.9, (0.1, 0.1, 0.3, 0.3))
    segment = SpeechSegment(start=0.5, end=1.0, text="Good morning.")
    for module in ("speech", "screen_text", "object_detector", "plugin"):
        monkeypatch.setattr(f"egomem.observe.{module}.are_installed", lambda *modules: True)

    class Engine:
        def __call__(self, image: Any) -> Any:
            return line

        def recognize_txt(self, crops: list[Any]) -> Any:
            return line

    monkeypatch.setattr("egomem.observe.screen_text._load", lambda side: Engine())
    monkeypatch.setattr(
        "egomem.observe.object_detector.Detector.detect", lambda self, image, least: [cup]
    )
    monkeypatch.setattr(
        "egomem.observe.speech.Speech._transcribe", lambda self, samples: [(segment, "en")]
    )
    monkeypatch.setattr("egomem.observe.speech.voice_segments", lambda samples: [])
    for observer in ("speech.Speech", "objects.Objects"):
        monkeypatch.setattr(f"egomem.observe.{observer}.prepare", lambda self: "no weights")


# -- what is declared -------------------------------------------------------------------------


@pytest.fixture(params=[*BUILTIN, FOREIGN])
def plugin(request: pytest.FixtureRequest) -> tuple[str, ObserverPlugin]:
    if request.param == FOREIGN:
        request.getfixturevalue("foreign")
    return request.param, OBSERVERS.get(request.param)


def setup_of(models: ModelClient, **changed: Any) -> ObserverSetup:
    setup = SimpleNamespace(track=Track(source="object", observer="seen"))
    given: dict[str, Any] = {"window": 2.0, "models": models, "earlier": (setup,)}
    return ObserverSetup(**given | changed)


def other(value: Any) -> Any:
    """Another value of a setting's type."""
    if isinstance(value, bool):
        return not value
    return "de" if value is None else value + 1


def test_it_is_what_it_declares(plugin: tuple[str, ObserverPlugin], models: ModelClient) -> None:
    name, declared = plugin
    observer = declared.create(name, setup_of(models))
    assert observer.track.source == declared.source
    assert declared.reads
    assert re.fullmatch(r"[A-Z].*\.", declared.summary)
    assert bool(declared.modules) == bool(declared.install)
    assert isinstance(observer, SoundObserver) == ("audio" in declared.reads)
    assert isinstance(observer, FrameObserver) != isinstance(observer, SoundObserver)


def test_every_setting_has_a_default_and_is_part_of_the_track(
    plugin: tuple[str, ObserverPlugin], models: ModelClient
) -> None:
    name, declared = plugin
    setup = setup_of(models)
    track = declared.create(name, setup).track.id
    assert declared.create(name, setup).track.id == track
    for field, default in declared.settings().model_dump().items():
        changed = declared.create(name, setup, {field: other(default)})
        assert changed.track.id != track, field


@pytest.mark.parametrize(
    ("name", "changed"),
    [
        ("speech", {"transcriber": "whisper:small"}),
        ("text", {"fps": 2.0}),
        ("objects", {"fps": 2.0}),
        ("caption", {"fps": 2.0}),
        ("caption", {"window": 4.0}),
        ("active", {"fps": 2.0}),
        ("active", {"window": 4.0}),
        ("composed", {"window": 4.0}),
        ("composed", {"earlier": (SimpleNamespace(track=Track(source="object", observer="x")),)}),
    ],
)
def test_what_it_makes_of_the_setup_is_part_of_the_track(
    name: str, changed: dict[str, Any], models: ModelClient
) -> None:
    declared = OBSERVERS.get(name)
    before = declared.create(name, setup_of(models)).track.id
    assert declared.create(name, setup_of(models, **changed)).track.id != before


def test_the_models_that_are_asked_are_part_of_the_track(server: ScriptedServer) -> None:
    spec = f"openai-compatible:fake@{server.url}"
    one = ModelClient.from_settings(load_settings(model={"captioner": spec}))
    another = ModelClient.from_settings(
        load_settings(model={"captioner": spec.replace(":fake", ":other")})
    )
    checked = ModelClient.from_settings(
        load_settings(model={"captioner": spec, "verifier": spec.replace("fake", "v")})
    )

    def track(name: str, models: ModelClient) -> str:
        return OBSERVERS.get(name).create(name, setup_of(models)).track.id

    assert track("caption", one) == track("caption", checked) != track("caption", another)
    assert len({track("active", models) for models in (one, another, checked)}) == 3


# -- what an ingest makes of it ---------------------------------------------------------------


class Ingest:
    """Ingests one video of six seconds into one memory, in windows of two seconds."""

    def __init__(self, folder: Path, video: Path, spec: str) -> None:
        self.folder, self.video, self.spec = folder, video, spec

    def __call__(self, *observers: Any, **options: Any) -> Any:
        given = {"window": 2, "observers": observers, **options}
        with egomem.open(self.folder, models={"captioner": self.spec}) as memory:
            report = memory.ingest(self.video, **given)
        (outcome,) = report.outcomes
        return outcome

    def finished(self) -> dict[str, set[str]]:
        """What is finished of each track: windows, or stretches of sound."""
        with egomem.open(self.folder) as memory:
            (recording,) = memory.store.recordings()
            windows: dict[str, set[str]] = {}
            for mark in memory.store.completed(recording.id):
                windows.setdefault(mark.track, set()).add(mark.unit)
            return windows

    def tracks(self) -> dict[str, set[str]]:
        """The observations of each track, by id."""
        with egomem.open(self.folder) as memory:
            sources: dict[str, set[str]] = {}
            for o in memory.store.view().observations():
                sources.setdefault(o.track, set()).add(o.id)
            return sources


@pytest.fixture
def ingest(tmp_path: Path, make_video: MakeVideo, server: ScriptedServer) -> Ingest:
    video = make_video("day.mp4", seconds=6, sound=True)
    return Ingest(tmp_path / "memory", video, f"openai-compatible:fake@{server.url}")


BESIDE = ("speech", "text", "objects", "composed")
"""What runs beside the one that is tested."""


def test_the_same_twice_does_nothing_and_a_changed_setting_observes_only_its_own_anew(
    plugin: tuple[str, ObserverPlugin], ingest: Ingest, server: ScriptedServer
) -> None:
    name, declared = plugin
    names = list(dict.fromkeys((*BESIDE, name)))
    assert ingest(*names).status == "done"
    before, finished, asked = ingest.tracks(), ingest.finished(), len(server.requests)
    assert {track.partition("/")[0] for track in finished} >= {declared.source}

    again = ingest(*names)
    assert (again.status, again.observations) == ("unchanged", 0)
    assert (ingest.tracks(), len(server.requests)) == (before, asked)

    settings = declared.settings().model_dump()
    if not settings:
        return
    field = "looks" if "looks" in settings else min(settings)
    ingest(*names, observer_settings={name: {field: other(settings[field])}})
    after, now = ingest.tracks(), ingest.finished()
    assert {track: after[track] for track in before} == before, "what there was stays"
    assert {track: now[track] for track in finished} == finished
    fresh = sorted(track.partition("/")[0] for track in now.keys() - finished.keys())
    # Composed captions rest on all three, so they are composed anew.
    composed = ["caption"] if declared.source in ("speech", "screen_text", "object") else []
    assert fresh == sorted([declared.source, *composed])


def test_a_new_version_of_a_package_is_observed_anew(
    ingest: Ingest, foreign: str, install: Any
) -> None:
    ingest("text", foreign)
    before = ingest.tracks()
    text = from_page("python", "An observer").replace("brightness@1", "brightness@2")
    OBSERVERS.discard(foreign)
    install("my_observers", text, GROUP, "brightness = my_observers:BRIGHTNESS", version="2.0")
    assert ingest("text", foreign).observations == 3
    (fresh,) = ingest.tracks().keys() - before.keys()
    assert fresh.startswith("place/brightness@2")
    assert str(OBSERVERS.origin(foreign)) == "my_observers 2.0"


def test_another_window_is_observed_anew_by_those_that_have_one(
    ingest: Ingest, foreign: str
) -> None:
    ingest("text", foreign)
    before = ingest.tracks()
    ingest("text", foreign, window=3)
    (fresh,) = ingest.tracks().keys() - before.keys()
    assert fresh.startswith("place/brightness@1@3s")


class Failing:
    track = Track(source="motion", observer="failing", window=2)

    def __init__(self, error: Exception) -> None:
        self.error = error
        self.windows: list[float] = []

    async def observe(self, window: Window) -> list[Observation]:
        self.windows.append(window.span.start)
        if window.span.start == 2:
            raise self.error
        return []


@pytest.mark.parametrize("error", [ModelError("no reply"), ValueError("of its own")])
def test_after_an_error_the_window_is_tried_again_and_the_rest_goes_on(
    ingest: Ingest, foreign: str, error: Exception
) -> None:
    failing = Failing(error)
    outcome = ingest(failing, foreign)
    assert outcome.status == "partial"
    assert outcome.observations == 3, "the other observer has all windows"
    assert failing.windows == [0, 2, 4]
    assert str(error) in outcome.faults[0]
    assert "motion" in outcome.faults[0]
    ingest(failing, foreign)
    assert failing.windows == [0, 2, 4, 2]


def test_a_window_that_was_given_up_is_not_tried_again(ingest: Ingest, foreign: str) -> None:
    failing = Failing(WindowFailed("refused", status=Status.REFUSED))
    assert ingest(failing, foreign).observations == 3
    assert ingest(failing, foreign).status == "partial"
    assert failing.windows == [0, 2, 4]


@pytest.mark.parametrize(
    "emitted", [{"source": "sound"}, {"track": "motion/another"}], ids=["source", "track"]
)
def test_an_observation_of_another_source_or_track_is_not_stored(
    ingest: Ingest, foreign: str, emitted: dict[str, Any]
) -> None:
    class Wrong(Failing):
        async def observe(self, window: Window) -> list[Observation]:
            values = {"source": "motion", "track": self.track.id, "text": "It moves."} | emitted
            return [Observation(recording=window.recording.id, span=window.span, **values)]

    outcome = ingest(Wrong(ModelError("")), foreign)
    assert outcome.observations == 3
    assert "its own is motion/failing" in outcome.faults[0]
    assert not any("motion" in track or "sound/" in track for track in ingest.tracks())


# -- who is chosen ----------------------------------------------------------------------------


def names(chosen: Any) -> list[str]:
    return [type(o).__name__ for o in (*chosen.observers.sound, *chosen.observers.frames)]


def test_default_stands_for_the_default_ones_and_others_are_added(foreign: str) -> None:
    usual = ["Speech", "ScreenText", "Objects", "TemplateCaptioner"]
    assert names(choose_observers(None, window=2, fps=1)) == usual
    added = choose_observers(None, window=2, fps=1, observers=["default", foreign])
    assert names(added) == [*usual, "Brightness"]


def test_an_observer_comes_behind_those_that_it_reads() -> None:
    chosen = choose_observers(None, window=2, fps=1, observers=["composed", "text", "objects"])
    assert names(chosen) == ["ScreenText", "Objects", "TemplateCaptioner"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"observers": ["nobody"]}, "there is no observer named nobody"),
        ({"observers": [3]}, "int is no observer"),
        ({"observers": ["text"], "settings": {"speech": {}}}, "settings of speech"),
        ({"observers": ["text"], "settings": {"text": {"x": 1}}}, "observer text: x"),
        ({"observers": ["text"], "caption": "active"}, "--caption active"),
        ({"observers": ["text", Failing(ValueError()), Failing(ValueError())]}, "two observers"),
    ],
)
def test_a_choice_that_cannot_be_is_said_in_a_line(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        choose_observers(None, window=2, fps=1, **options)


def test_a_declared_source_that_the_track_has_not_is_an_error() -> None:
    wrong = ObserverPlugin(
        summary="Wrong.",
        source="sound",
        reads=("frames",),
        make=lambda setup, settings: Failing(ValueError()),
    )
    with pytest.raises(ConfigError, match="declares the source sound"):
        wrong.create("wrong", ObserverSetup())


def test_one_that_is_not_installed_is_left_out_of_the_default_and_an_error_where_it_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        "egomem.observe.plugin.are_installed", lambda *modules: "cv2" not in modules
    )
    chosen = choose_observers(None, window=2, fps=1)
    assert "Objects" not in names(chosen)
    assert any(note.startswith("without objects: cv2 is not installed") for note in chosen.notes)
    with pytest.raises(egomem.EgomemError, match="cv2 is not installed; run: pip install"):
        choose_observers(None, window=2, fps=1, observers=["objects"])
