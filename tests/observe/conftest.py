"""Made-up pictures, windows and sound for observers."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from egomem.media import Frame
from egomem.observe import Window
from egomem.records import Observation, Recording
from egomem.timeline import Span

MakeWindow = Callable[..., Window]


@pytest.fixture
def recording() -> Recording:
    return Recording(id="rec", wearer="ann", name="rec.mp4", duration=90.0)


@pytest.fixture
def make_window(recording: Recording) -> MakeWindow:
    """`make_window([images], start=0, end=..)`: one frame a second, at whole seconds."""

    def make(
        images: Sequence[np.ndarray] = (),
        *,
        start: float = 0.0,
        end: float | None = None,
        context: Sequence[Observation] = (),
        step: float = 1.0,
    ) -> Window:
        frames = tuple(
            Frame(time=start + k * step, requested=start + k * step, image=image)
            for k, image in enumerate(images)
        )
        stop = start + len(images) * step if end is None else end
        return Window(recording, Span(start, stop), frames, tuple(context))

    return make
