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


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = egomem.nothing


@pytest.mark.parametrize("module", ["egomem", "egomem.cli"])
def test_importing_loads_nothing_heavy(module: str) -> None:
    heavy = "av", "numpy", "pydantic_ai", "openai", "cv2", "faster_whisper", "onnxruntime", "rich"
    code = f"import sys, {module}; print(*[m for m in {heavy!r} if m in sys.modules])"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.split() == []
