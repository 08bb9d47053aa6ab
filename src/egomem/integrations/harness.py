"""What inspect_ai and lmms-eval share: a benchmark and a memory, where a harness asks the model.

The strategy writes the requests and reads the replies; the harness sends the requests, and caches,
limits and logs them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from egomem.answer import FrameSource, answer, get
from egomem.benchmarks import Benchmark, open_benchmark
from egomem.config import load_settings as load_settings
from egomem.errors import UsageError
from egomem.evaluate.video_map import BlindViews, VideoMap, videos_in_memory
from egomem.media import Frame, frames
from egomem.memory import Store
from egomem.models import ImagePart, ModelClient, Reply, Request, TextPart, VideoPart, read_limits
from egomem.models.limits import exceeded_limit, fit_request
from egomem.models.reply import ErrorKind
from egomem.records import Answer, Question, Status
from egomem.text import plural


def read_benchmark(data: str, format: str | None = None) -> Benchmark:
    """The benchmark in a folder or file; "demo" is egomem's own, unless a file has that name.

    Raises UsageError where it holds no question.
    """
    benchmark = open_benchmark(data, format)
    if not benchmark.questions:
        raise UsageError(f"{data} holds no questions", f"run: egomem benchmark validate {data}")
    return benchmark


@dataclass
class BenchmarkSession:
    """The questions of a benchmark and the memory that answers them. Open one with `of`."""

    benchmark: Benchmark
    places: VideoMap
    memory: Store | BlindViews

    @classmethod
    def of(cls, benchmark: Benchmark, memory: Path | None, strategy: str) -> BenchmarkSession:
        """Open the memory; a strategy that reads nothing (`clean`) needs none.

        Raises UsageError where none of the benchmark's videos is in it.
        """
        if get(strategy).blind:
            return cls(benchmark, VideoMap(), BlindViews())
        if memory is None:
            raise UsageError(f"strategy {strategy} reads a memory, and none is named")
        store = Store.open(memory)
        try:
            places = videos_in_memory(benchmark, store)
            # Every question would end as an error, after the model was loaded for it.
            if benchmark.videos and not places.recordings:
                raise UsageError(
                    f"the memory at {memory} holds none of the "
                    f"{plural(len(benchmark.videos), 'video')} of "
                    f"{benchmark.name} ({benchmark.videos[0].id}, ...)",
                    "its recordings need the ids, hashes or file names of the videos",
                )
        except BaseException:
            store.close()
            raise
        return cls(benchmark, places, store)

    def close(self) -> None:
        self.memory.close()

    async def answer(
        self,
        question: Question,
        strategy: str,
        settings: Mapping[str, Any],
        models: ModelClient,
        frames: FrameSource | None = None,
    ) -> Answer:
        """A strategy's answer, with the benchmark's names of videos in its evidence and trace.

        For a question about a video that the memory lacks it has the status `error`, which counts:
        leaving such questions out would make every memory look complete.
        """
        blind = isinstance(self.memory, BlindViews)
        if not blind and (why := self.places.lost(question)):
            return Answer(text="", status=Status.ERROR, strategy=strategy, reason=why)
        local = self.places.localised(question)
        view = self.memory.view(local.at)
        if not blind and local.recording is not None:
            view = view.narrow(recordings=[local.recording])
        result = await answer(
            local, view, strategy, settings=settings, models=models, frames=frames or self.frames
        )
        return self.places.named(result)

    def frames(
        self, recording: str, times: Sequence[float], side: int | None = None
    ) -> Iterable[Frame]:
        """Frames of a recording, from its file."""
        source = None if isinstance(self.memory, BlindViews) else self.memory.recording(recording)
        if source is None or source.path is None:
            raise UsageError(f"the video file of {recording} is not known")
        return frames(source.path, times, side=side)


class HarnessClient(ModelClient):
    """A client in which every role is the harness's model; a subclass sends the request.

    Limits are those of egomem's settings (EGOMEM_LIMITS_READER_IMAGES, ...).
    """

    def __init__(self) -> None:
        settings = load_settings()
        # The address is never called: `ask` passes each request on to the harness.
        super().__init__(
            {"all": "openai-compatible:harness@http://harness.invalid/v1"},
            limits=read_limits(settings.limits, fit=settings.fit),
            environ={},
        )

    async def ask(self, request: Request) -> Reply:
        limits = self.limits(request.role)
        if limits.fit:
            request = fit_request(request, limits)
        # The harness would send it, and the server refuse it or drop pictures without a word.
        if broken := exceeded_limit(request, limits):
            return Reply(status=Status.ERROR, fault=ErrorKind.IMAGES, detail=broken)
        return await self.pass_on(request)

    async def pass_on(self, request: Request) -> Reply:
        """The harness's reply to a request that is within the limits."""
        raise NotImplementedError


def request_parts(request: Request) -> Iterator[str | ImagePart]:
    """A request's texts and images in order; an image's label belongs right before it."""
    for part in request.parts:
        if isinstance(part, TextPart):
            yield part.text
        elif isinstance(part, ImagePart):
            yield part
        elif isinstance(part, VideoPart) and part.frames:
            yield from part.frames
        else:
            # Leaving them out would score another question than was asked.
            raise UsageError("sound and whole video files cannot be sent through another harness")
