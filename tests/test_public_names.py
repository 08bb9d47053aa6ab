import importlib
import inspect
import subprocess
import sys

import pytest

import egomem


def test_the_public_names_are_pinned() -> None:
    assert egomem.__all__ == [
        "Answer",
        "ChoiceReading",
        "Clock",
        "EgomemError",
        "Evidence",
        "Hit",
        "Memory",
        "Observation",
        "Option",
        "Question",
        "Recording",
        "RecordingTime",
        "Span",
        "Status",
        "Usage",
        "open",
        "read_choice",
    ]


@pytest.mark.parametrize("name", egomem.__all__)
def test_every_public_name_is_there_and_has_a_docstring(name: str) -> None:
    assert getattr(egomem, name).__doc__


ROOMS = ["egomem.media", "egomem.models", "egomem.testing"]


@pytest.mark.parametrize("room", ROOMS)
def test_the_names_of_a_room_are_there_and_documented(room: str) -> None:
    """Models load their names when they are first used, so a wrong table shows only here."""
    module = importlib.import_module(room)
    for name in module.__all__:
        value = getattr(module, name)
        if inspect.isclass(value) or inspect.isfunction(value):
            assert value.__doc__, name
            assert not value.__doc__.startswith(f"{name}("), "made by dataclass"


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = egomem.nothing


@pytest.mark.parametrize("module", ["egomem", "egomem.cli"])
def test_importing_loads_nothing_heavy(module: str) -> None:
    heavy = "av", "numpy", "pydantic_ai", "openai", "cv2", "faster_whisper", "onnxruntime", "rich"
    code = f"import sys, {module}; print(*[m for m in {heavy!r} if m in sys.modules])"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.split() == []
