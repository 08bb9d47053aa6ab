"""Text in the picture, read with RapidOCR (PP-OCR models inside its wheel) on one CPU thread."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from typing import Any

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict

from egomem.defaults import DEFAULT_FPS
from egomem.errors import MissingExtraError
from egomem.extras import are_installed, install_line
from egomem.observe.keyframes import MIN_CHANGE, select_keyframes
from egomem.observe.plugin import ObserverPlugin, ObserverSetup
from egomem.observe.text_orientation import best_reading
from egomem.observe.text_tracks import OcrResult, TextLine, TextTrack, track_lines
from egomem.observe.window import Window
from egomem.records import Observation, Provenance, Track

MODULES = ("rapidocr", "onnxruntime")


class ScreenText:
    """Reads text in a window's frames; a line that stays is one observation.

    `fps`: keyframes a second at most (see `keyframes`). `score`: a line below it is dropped, and so
    is a single character, which the models like to invent. A line must stand for `hold` seconds or
    score `sure` once. `side`: a picture is shrunk to this longest side to find the lines; they are
    read in full size. `dropped` counts what was left out, by reason.
    """

    def __init__(
        self,
        *,
        fps: float = DEFAULT_FPS,
        score: float = 0.6,
        sure: float = 0.85,
        hold: float = 1.5,
        side: int = 736,
        change: float = MIN_CHANGE,
    ) -> None:
        if not are_installed(*MODULES):
            raise MissingExtraError("rapidocr", "text")
        self.fps, self.score, self.sure, self.hold = fps, score, sure, hold
        self.side, self.change = side, change
        self.dropped: Counter[str] = Counter()
        self._engine: Any = None
        # The engine keeps state between its steps; several windows are read at once.
        self._one_at_a_time = threading.Lock()

    @property
    def track(self) -> Track:
        sampling = f"{self.fps:g}fps,score{self.score:g},sure{self.sure:g},hold{self.hold:g}s"
        sampling += f",side{self.side},change{self.change:g}"
        return Track(source="screen_text", observer="rapidocr", model="PP-OCR", sampling=sampling)

    async def observe(self, window: Window) -> list[Observation]:
        return await asyncio.to_thread(self._observe, window)

    def _observe(self, window: Window) -> list[Observation]:
        keyframes = select_keyframes(window.frames, window.span, fps=self.fps, change=self.change)
        results = [
            OcrResult(look.span, look.frame.time, self.read(look.frame.image)) for look in keyframes
        ]
        return [self._observation(window, s) for s in track_lines(results) if self._is_believed(s)]

    def _is_believed(self, text_track: TextTrack) -> bool:
        is_reliable = (
            text_track.span.length >= self.hold
            or max(line.score for line in text_track.readings) >= self.sure
        )
        if not is_reliable:
            self.dropped["flicker"] += len(text_track.readings)
        return is_reliable

    def read(self, image: npt.NDArray[np.uint8]) -> list[TextLine]:
        """Return the lines in an (H, W, 3) uint8 RGB picture to keep, top to bottom."""
        with self._one_at_a_time:
            engine = self._engine = self._engine or _load(self.side)
            # RapidOCR expects BGR, as OpenCV reads pictures.
            result = engine(np.ascontiguousarray(image[:, :, ::-1]))
            height, width = image.shape[:2]
            lines = []
            boxes = result.boxes if result.boxes is not None else ()
            for text, score, corners in zip(
                result.txts or (), result.scores or (), boxes, strict=True
            ):
                left, top = corners.min(axis=0) / (width, height)
                right, bottom = corners.max(axis=0) / (width, height)
                box = (float(left), float(top), float(right), float(bottom))
                line = TextLine(text.strip(), float(score), box)
                lines.append(best_reading(line, image, self._read_line))
        return self._worth_keeping(lines)

    def _read_line(self, crop: npt.NDArray[np.uint8]) -> tuple[str, float] | None:
        """The text of a picture that is one line, and its score."""
        result = self._engine.recognize_txt([np.ascontiguousarray(crop[:, :, ::-1])])
        return (result.txts[0], float(result.scores[0])) if result.txts else None

    def _worth_keeping(self, lines: list[TextLine]) -> list[TextLine]:
        kept = []
        for line in lines:
            # Recognisers see an "I" or an "o" in every edge and knob.
            if sum(c.isalnum() for c in line.text) < 2:
                self.dropped["one character"] += 1
            elif line.score < self.score:
                self.dropped["low score"] += 1
            else:
                kept.append(line)
        return kept

    def _observation(self, window: Window, text_track: TextTrack) -> Observation:
        best = text_track.best
        variants = sorted({line.text for line in text_track.readings} - {best.text})
        return Observation(
            recording=window.recording.id,
            wearer=window.recording.wearer,
            span=text_track.span,
            text=best.text,
            source="screen_text",
            track=self.track.id,
            data={
                "box": [round(min(max(v, 0.0), 1.0), 4) for v in best.box],
                "score": round(best.score, 3),
                "readings": len(text_track.readings),
                "variants": [*variants],
            }
            | ({} if best.orientation == "upright" else {"orientation": best.orientation}),
            provenance=Provenance(frames=tuple(text_track.times)),
        )


def _load(side: int) -> Any:
    from rapidocr import RapidOCR

    return RapidOCR(
        params={
            "Global.log_level": "critical",
            "Global.use_cls": False,  # upside-down lines: rare, and a pass over every line
            "EngineConfig.onnxruntime.intra_op_num_threads": 1,  # two on a busy machine spin
            "EngineConfig.onnxruntime.inter_op_num_threads": 1,
            "Det.limit_type": "max",
            "Det.limit_side_len": side,
        }
    )


class ScreenTextSettings(BaseModel):
    """See `ScreenText`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    score: float = 0.6
    sure: float = 0.85
    hold: float = 1.5
    side: int = 736
    change: float = MIN_CHANGE


def _make(setup: ObserverSetup, settings: ScreenTextSettings) -> ScreenText:
    return ScreenText(fps=setup.fps, **settings.model_dump())


SCREEN_TEXT = ObserverPlugin(
    summary="Text in the picture, by PP-OCR on the CPU.",
    source="screen_text",
    reads=("frames",),
    make=_make,
    settings=ScreenTextSettings,
    modules=MODULES,
    install=install_line("text"),
    weights=lambda: "PP-OCR, inside RapidOCR",
)
