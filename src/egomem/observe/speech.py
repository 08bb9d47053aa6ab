"""Speech, transcribed by faster-whisper from a stream of sound of any length."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict

from egomem.errors import MissingExtraError, UsageError
from egomem.extras import are_installed, install_line
from egomem.media import AudioBlock
from egomem.models import weights
from egomem.models.weights import WeightsOrigin
from egomem.observe.asr_filter import SegmentFilter, SpeechSegment
from egomem.observe.plugin import ObserverPlugin, ObserverSetup
from egomem.observe.speech_cuts import cut_at_gaps
from egomem.records import Observation, Provenance, Recording, Track
from egomem.timeline import Span

Samples = npt.NDArray[np.float32]

SAMPLE_RATE = 16_000
"""Samples a second that Whisper and the voice detector expect."""

_MAX_JUMP_S = 0.05
"""Seconds that a block may begin early or late before the sound counts as interrupted."""

PAD_MS = 100
"""Milliseconds of sound kept around a voice. The first word is said to begin where this begins."""

_MIN_PAUSE_S = 0.3
"""Seconds of quiet between words that are long enough to cut in."""


def default_threads() -> int:
    """All cores but one, so that decoding goes on beside the model."""
    return max(1, (os.cpu_count() or 1) - 1)


class Speech:
    """Transcribes blocks of sound; each segment, cut at gaps of its words, is one observation.

    `model`: a Whisper size or a folder. `language`: an ISO 639-1 code, None to detect it in each
    stretch. `stretch`: seconds of sound transcribed at once; it is cut at a pause, so memory is
    flat and no word is split. `dropped` counts segments that the filter left out, by reason.
    """

    def __init__(
        self,
        model: str | Path = "base",
        *,
        language: str | None = None,
        segment_filter: SegmentFilter | None = None,
        stretch: float = 120.0,
        beam: int = 1,
        threads: int | None = None,
    ) -> None:
        if not are_installed("faster_whisper"):
            raise MissingExtraError("faster-whisper", "speech")
        # A shorter stretch has no second half with a pause to be cut in.
        if stretch < 2:
            raise UsageError(f"a stretch of sound must last 2 s at least, not {stretch:g}")
        self.model, self.language, self.stretch, self.beam = model, language, stretch, beam
        self.segment_filter = segment_filter or SegmentFilter()
        self.threads = threads or default_threads()
        self.dropped: Counter[str] = Counter()
        self._engine: Any = None

    @property
    def track(self) -> Track:
        sampling = f"vad,{self.stretch:g}s,beam{self.beam}"
        if self.language:
            sampling += f",{self.language}"
        name = f"whisper-{Path(self.model).name}"
        return Track(source="speech", observer="faster-whisper", model=name, sampling=sampling)

    def prepare(self) -> WeightsOrigin:
        """Fetch the weights unless they are here; return where they came from."""
        return weights.whisper(self.model)

    def hear(
        self, blocks: Iterable[AudioBlock], recording: Recording
    ) -> Iterator[tuple[float, list[Observation]]]:
        """Yield the end of each stretch, in seconds of the recording, and its observations."""
        track_id = self.track.id
        for start, samples in split_at_pauses(blocks, self.stretch):
            observations = [
                Observation(
                    recording=recording.id,
                    wearer=recording.wearer,
                    span=Span(round(start + segment.start, 3), round(start + segment.end, 3)),
                    text=segment.text,
                    source="speech",
                    track=track_id,
                    data={
                        "language": language,
                        "no_speech_prob": round(segment.no_speech_prob, 3),
                        "avg_logprob": round(segment.avg_logprob, 3),
                        "words": [
                            [round(start + w0, 2), round(start + w1, 2), word, p and round(p, 2)]
                            for w0, w1, word, p in segment.words
                        ],
                    },
                    provenance=Provenance(note="transcribed by a speech model"),
                )
                for segment, language in self._transcribe(samples)
            ]
            yield start + samples.size / SAMPLE_RATE, observations

    def _transcribe(self, samples: Samples) -> Iterator[tuple[SpeechSegment, str]]:
        # Whisper invents sentences over silence, so it never gets any.
        if not voice_segments(samples):
            return
        results, info = self._model().transcribe(
            samples,
            language=self.language,
            beam_size=self.beam,
            vad_filter=True,
            vad_parameters={"speech_pad_ms": PAD_MS},
            condition_on_previous_text=False,  # else one invented line breeds the next
            temperature=0.0,  # sampling would make two memories of the same sound
            word_timestamps=True,
        )
        segments = [
            SpeechSegment(
                start=float(s.start),
                end=float(max(s.start, s.end)),
                text=" ".join(s.text.split()),
                no_speech_prob=float(s.no_speech_prob),
                avg_logprob=float(s.avg_logprob),
                words=[
                    (float(w.start), float(w.end), w.word.strip(), float(w.probability))
                    for w in s.words or ()
                ],
            )
            for s in results
            if s.text.strip()
        ]
        kept, dropped = self.segment_filter.sift(segments)
        self.dropped.update(dropped)
        for segment in kept:
            # A segment may join sentences minutes apart, and its times would cover the silence
            # between.
            for part in cut_at_gaps(segment):
                yield part, info.language

    def _model(self) -> Any:
        if self._engine is None:
            from faster_whisper import WhisperModel

            self._engine = WhisperModel(
                str(self.prepare().folder),
                device="cpu",
                compute_type="int8",
                cpu_threads=self.threads,
                local_files_only=True,
            )
        return self._engine


def voice_segments(samples: Samples) -> list[tuple[int, int]]:
    """Where somebody speaks, in samples; segments less than a pause apart are one."""
    from faster_whisper.vad import VadOptions, get_speech_timestamps

    # No padding: a pause is looked for, and padding would close the short ones.
    options = VadOptions(min_silence_duration_ms=int(_MIN_PAUSE_S * 1000), speech_pad_ms=0)
    return [(s["start"], s["end"]) for s in get_speech_timestamps(samples, options)]


def split_at_pauses(
    blocks: Iterable[AudioBlock], seconds: float
) -> Iterator[tuple[float, Samples]]:
    """The sound in stretches of at most `seconds`, each with the time of its first sample.

    A stretch is cut where nobody speaks if there is such a place in its second half, else where it
    is quietest. A gap between two blocks ends a stretch: times are exact on both sides. Cuts follow
    from the sound since the last cut alone, so a stream resumed at a cut goes on the same way.
    """
    size = int(seconds * SAMPLE_RATE)
    start, buffer = 0.0, np.zeros(0, np.float32)
    for block in blocks:
        if block.rate != SAMPLE_RATE:
            raise UsageError(f"speech needs {SAMPLE_RATE} samples a second, not {block.rate}")
        if buffer.size and abs(block.start - (start + buffer.size / SAMPLE_RATE)) > _MAX_JUMP_S:
            yield start, buffer
            buffer = buffer[:0]
        if not buffer.size:
            start = block.start
        buffer = np.concatenate((buffer, block.samples))
        while buffer.size >= size:
            cut = cut_point(buffer[:size], voice_segments(buffer[:size]))
            yield start, buffer[:cut]
            start, buffer = start + cut / SAMPLE_RATE, buffer[cut:]
    if buffer.size:
        yield start, buffer


def cut_point(samples: Samples, spoken: Sequence[tuple[int, int]]) -> int:
    """The sample to cut a stretch at: the middle of the last pause of its second half."""
    length = samples.size
    edges = [0, *(edge for pair in spoken for edge in pair), length]
    pauses = [
        (max(begin, length // 2), end)
        for begin, end in zip(edges[::2], edges[1::2], strict=True)
        if end - max(begin, length // 2) >= _MIN_PAUSE_S * SAMPLE_RATE
    ]
    if pauses:
        # The last pause, so that stretches are as long as may be: each begins without what came
        # before it.
        return sum(pauses[-1]) // 2
    step = SAMPLE_RATE // 10
    half = samples[length // 2 :]
    loudness = np.square(half[: half.size // step * step]).reshape(-1, step).sum(axis=1)
    return length // 2 + int(loudness.argmin()) * step + step // 2


class SpeechSettings(BaseModel):
    """See `Speech`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    language: str | None = None
    stretch: float = 120.0
    beam: int = 1


def _make(setup: ObserverSetup, settings: SpeechSettings) -> Speech:
    return Speech(
        whisper_model(setup.transcriber),
        language=settings.language,
        stretch=settings.stretch,
        beam=settings.beam,
    )


def whisper_model(transcriber: str) -> str:
    """The Whisper size or folder that a transcriber's spec names: `whisper:small`, `embedded`."""
    return "base" if transcriber == "embedded" else transcriber.removeprefix("whisper:")


SPEECH = ObserverPlugin(
    summary="What is said, by Whisper on the CPU.",
    source="speech",
    reads=("audio",),
    make=_make,
    settings=SpeechSettings,
    modules=("faster_whisper",),
    install=install_line("speech"),
    weights=lambda: weights.describe("Whisper base", "base"),
)
