"""Which observers can run on this machine without a vision-language model, and what is missing."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from egomem.errors import MissingExtraError, WeightsError
from egomem.extras import install_line
from egomem.models import weights
from egomem.models.weights import WeightsOrigin
from egomem.observe import object_detector, screen_text, speech
from egomem.observe.objects import Objects
from egomem.observe.screen_text import ScreenText
from egomem.observe.speech import Speech
from egomem.observe.template_captioner import TemplateCaptioner
from egomem.observe.window import Observer
from egomem.timeline import DEFAULT_FPS

Part = Literal["speech", "text", "objects"]
"""The embedded parts, by the name of the extra that installs each."""

PARTS: tuple[Part, ...] = ("speech", "text", "objects")


@dataclass(frozen=True, slots=True)
class PartStatus:
    """Whether a part can run here; `remedy` is the line that mends it."""

    part: Part
    ready: bool
    detail: str
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class Embedded:
    """The observers that can run here: `speech` hears the whole recording first, then `observers`
    see each window in this order; the last of them composes a caption from the rest. Where none can
    run, there is none.

    `origins`: where weights came from, to be shown once. `missing`: parts that cannot run, and why.
    """

    speech: Speech | None
    observers: tuple[Observer, ...]
    origins: tuple[WeightsOrigin, ...]
    missing: tuple[PartStatus, ...]

    @property
    def dropped(self) -> dict[str, int]:
        """What was left out so far, by part and reason, such as "speech: no speech"."""
        counts = [("speech", self.speech.dropped)] if self.speech else []
        counts += [
            (o.track.source, o.dropped)
            for o in self.observers
            if isinstance(o, ScreenText | Objects)
        ]
        return {f"{part}: {why}": n for part, found in counts for why, n in found.items() if n}


def embedded_observers(
    parts: Collection[Part] = PARTS,
    *,
    window: float | None = None,
    speech_model: str | Path = "base",
    language: str | None = None,
    fps: float = DEFAULT_FPS,
) -> Embedded:
    """The observers that can run here, with their weights fetched; a part that cannot is `missing`.

    `window`: length in seconds, for the composed caption's track. `fps`: looks a second at most.
    """
    origins: list[WeightsOrigin] = []
    missing: list[PartStatus] = []
    heard: Speech | None = None
    seeing: list[Observer] = []
    for part in PARTS:
        if part not in parts:
            continue
        try:
            if part == "speech":
                heard = Speech(speech_model, language=language)
                origins.append(heard.prepare())
            elif part == "text":
                seeing.append(ScreenText(fps=fps))
            else:
                objects = Objects(fps=fps)
                origins.append(objects.prepare())
                seeing.append(objects)
        except (MissingExtraError, WeightsError) as error:
            missing.append(PartStatus(part, False, error.message, error.remedy))
            heard = None if part == "speech" else heard
    if tracks := [o.track for o in (heard, *seeing) if o is not None]:
        seeing.append(TemplateCaptioner(window, tracks))
    return Embedded(heard, tuple(seeing), tuple(origins), tuple(missing))


def embedded_status(*, speech_model: str = "base") -> list[PartStatus]:
    """What of the embedded parts works here, without fetching anything (for a doctor)."""
    checks: dict[Part, tuple[Callable[[], bool], str | None, str]] = {
        "speech": (speech.installed, speech_model, f"Whisper {speech_model}"),
        "text": (screen_text.installed, None, "PP-OCR, inside RapidOCR"),
        "objects": (object_detector.installed, "detector", "SSD MobileNet v2 COCO"),
    }
    found = []
    for part, (installed, model, name) in checks.items():
        if not installed():
            line = install_line(part)
            found.append(PartStatus(part, False, "not installed", f"run: {line}"))
        elif model is None or weights.available_offline(model):
            found.append(PartStatus(part, True, name))
        else:
            found.append(PartStatus(part, True, f"{name}, to be fetched at first use"))
    return found
