"""Ids, cache keys and fingerprints on disk stay equal: literal values of the first release."""

from pathlib import Path

import pytest
from pydantic import BaseModel

from egomem import hashing
from egomem.answer.strategy import settings_hash
from egomem.benchmarks.manifest import question_hash
from egomem.evaluate.fingerprint import digest
from egomem.media import content_hash
from egomem.models.request import AudioPart, ImagePart, VideoPart
from egomem.observe import TemplateCaptioner
from egomem.observe.active import ActiveCaptioner
from egomem.records import Observation, Option, Question
from egomem.timeline import Span


class Settings(BaseModel):
    k: int = 3
    note: str = "é"


def test_an_observations_id() -> None:
    o = Observation(
        recording="r",
        span=Span(0, 30),
        text="a red cup é",
        source="caption",
        track="caption/x",
        data={"b": 1, "a": [1.5, "ü"]},
    )
    assert o.id == "eebe51d63d0c6914a745"


def test_the_fingerprints_of_a_run() -> None:
    assert digest({"b": "é", "a": [1, 2.0]}) == "c1792f820bcdf3f5"
    assert settings_hash("x", Settings()) == "549dbe0d2c6c491c"


def test_the_key_of_a_request() -> None:
    value = {"b": "é\ud800", "a": 1}
    assert hashing.hash_json(value) == (
        "98c429fcb125a78b1c1fc754cbb29ea6e36c226f4ff908067054570678b1d91a"
    )
    image = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert (ImagePart(b"abc").sha256, AudioPart(b"abc").sha256) == (image, image)
    assert VideoPart(frames=(ImagePart(b"a"), ImagePart(b"b")), data=b"x").sha256 == (
        "a265d4fbac3635dd2aff947ec0155f21af7c9b8e21f2a82b97687e33bd3c1e1c"
    )


def test_track_ids() -> None:
    assert ActiveCaptioner(None, window=30.0).track.id == ("caption/active=embedded@30s~5s,46adc9")
    speech = TemplateCaptioner(30.0).track.model_copy(update={"source": "speech"})
    assert TemplateCaptioner(30.0, of=[speech]).track.id == "caption/composed@30s~speech,401b55"


def test_a_question_of_a_benchmark() -> None:
    options = tuple(
        Option(label=label, text=text) for label, text in zip("ABC", "xyz", strict=True)
    )
    question = Question(id="q1", text="wo é?", options=options)
    assert question_hash(question) == (
        "c5d3a35430d78f6bff2ee355b3459c430e71d87e9080abf885f58e0488ac9ae6"
    )


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ({}, "8eb1c7d9ed7065e8"),
        ({"ascii": True}, "c1792f820bcdf3f5"),
        ({"spaced": True}, "b4a6caea834c071a"),
    ],
)
def test_the_forms_of_json(form: dict[str, bool], expected: str) -> None:
    assert hashing.hash_json({"b": "é", "a": [1, 2.0]}, **form)[:16] == expected


def test_a_file_and_its_recording(tmp_path: Path) -> None:
    (tmp_path / "a.mp4").write_bytes(b"abc")
    digest = content_hash(tmp_path / "a.mp4")
    assert digest == hashing.hash_bytes(b"a", b"bc") == hashing.hash_text("abc")
    assert hashing.recording_id(digest) == "ba7816bf8f01cfea"
