"""What was said, with faster-whisper, from a stream of sound of any length."""

from __future__ import annotations

import importlib.util
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from egomem.errors import MissingExtraError, UsageError
from egomem.media import AudioBlock
from egomem.models import weights
from egomem.models.weights import WeightsOrigin
from egomem.observe.asr_filter import SegmentFilter, SpeechSegment
from egomem.records import Observation, Provenance, Recording, Track
from egomem.timeline import Span

Samples = npt.NDArray[np.float32]

SAMPLE_RATE = 16_000
"""Samples a second that Whisper and the voice detector expect."""

_GAP = 0.05
"""Seconds that a block may begin early or late before the sound counts as interrupted."""

PAD_MS = 100
"""Milliseconds of sound kept around a voice. The first word is said to begin where this begins."""

_PAUSE = 0.3
"""Seconds of quiet between words that are long enough to cut in."""


def installed() -> bool:
    return importlib.util.find_spec("faster_whisper") is not None


def default_threads() -> int:
    """CPU threads: all cores but one, so that decoding goes on beside the models."""
    return max(1, (os.cpu_count() or 1) - 1)


class Speech:
    """Listens to blocks of sound and yields what was said, one segment an observation.

    `model`: a Whisper size or a folder. `language`: an ISO 639-1 code, None to detect it in each
    stretch. `stretch`: seconds of sound handled at once; it is cut at a pause, so memory is flat
    and no word is split. `dropped` counts segments that were not believed.
    """

    def __init__(
        self,
        model: str | Path = "base",
        *,
        language: str | None = None,
        doubts: SegmentFilter | None = None,
        stretch: float = 120.0,
        beam: int = 1,
        threads: int | None = None,
    ) -> None:
        if not installed():
            raise MissingExtraError("faster-whisper", "speech")
        if stretch < 2:
            raise UsageError(f"a stretch of sound must last 2 s at least, not {stretch:g}")
        self.model, self.language, self.stretch, self.beam = model, language, stretch, beam
        self.doubts = doubts or SegmentFilter()
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
        """Fetches the weights where they are not here yet; says where they came from."""
        return weights.whisper(self.model)

    def transcribe(
        self, blocks: Iterable[AudioBlock], recording: Recording
    ) -> Iterator[Observation]:
        """Observations in time order; times are seconds of the recording, as the blocks' are."""
        for _, said in self.hear(blocks, recording):
            yield from said

    def hear(
        self, blocks: Iterable[AudioBlock], recording: Recording
    ) -> Iterator[tuple[float, list[Observation]]]:
        """For each stretch where it ends, and what is said in it."""
        track = self.track.id
        for start, samples in split_at_pauses(blocks, self.stretch):
            heard = [
                Observation(
                    recording=recording.id,
                    wearer=recording.wearer,
                    span=Span(round(start + said.start, 3), round(start + said.end, 3)),
                    text=said.text,
                    source="speech",
                    track=track,
                    data={
                        "language": language,
                        "no_speech_prob": round(said.no_speech_prob, 3),
                        "avg_logprob": round(said.avg_logprob, 3),
                        "words": [
                            [round(start + w0, 2), round(start + w1, 2), word, round(p, 2)]
                            for w0, w1, word, p in said.words
                        ],
                    },
                    provenance=Provenance(note="transcribed by a speech model"),
                )
                for said, language in self._hear(samples)
            ]
            yield start + samples.size / SAMPLE_RATE, heard

    def _hear(self, samples: Samples) -> Iterator[tuple[SpeechSegment, str]]:
        if not voice_segments(samples):
            return
        segments, info = self._model().transcribe(
            samples,
            language=self.language,
            beam_size=self.beam,
            vad_filter=True,
            vad_parameters={"speech_pad_ms": PAD_MS},
            condition_on_previous_text=False,  # or one invented line breeds the next
            temperature=0.0,  # sampling would make two memories of the same sound
            word_timestamps=True,
        )
        heard = [
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
            for s in segments
            if s.text.strip()
        ]
        kept, dropped = self.doubts.sift(heard)
        self.dropped.update(dropped)
        for said in kept:
            yield said, info.language

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
    """Where somebody speaks, in samples; quiet shorter than a pause does not part two of them."""
    from faster_whisper.vad import VadOptions, get_speech_timestamps

    options = VadOptions(min_silence_duration_ms=int(_PAUSE * 1000), speech_pad_ms=0)
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
    start, held = 0.0, np.zeros(0, np.float32)
    for block in blocks:
        if block.rate != SAMPLE_RATE:
            raise UsageError(f"speech needs {SAMPLE_RATE} samples a second, not {block.rate}")
        if held.size and abs(block.start - (start + held.size / SAMPLE_RATE)) > _GAP:
            yield start, held
            held = held[:0]
        if not held.size:
            start = block.start
        held = np.concatenate((held, block.samples))
        while held.size >= size:
            cut = cut_point(held[:size], voice_segments(held[:size]))
            yield start, held[:cut]
            start, held = start + cut / SAMPLE_RATE, held[cut:]
    if held.size:
        yield start, held


def cut_point(samples: Samples, spoken: Sequence[tuple[int, int]]) -> int:
    """The sample to cut a stretch at: the middle of the last pause of its second half."""
    length = samples.size
    edges = [0, *(edge for pair in spoken for edge in pair), length]
    pauses = [
        (max(begin, length // 2), end)
        for begin, end in zip(edges[::2], edges[1::2], strict=True)
        if end - max(begin, length // 2) >= _PAUSE * SAMPLE_RATE
    ]
    if pauses:
        return sum(pauses[-1]) // 2
    step = SAMPLE_RATE // 10
    half = samples[length // 2 :]
    loudness = np.square(half[: half.size // step * step]).reshape(-1, step).sum(axis=1)
    return length // 2 + int(loudness.argmin()) * step + step // 2
