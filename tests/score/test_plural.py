from __future__ import annotations

import pytest

from egomem.score.plural import clusters, plural


@pytest.mark.parametrize(
    ("n", "said"),
    [
        (0, "0 windows have"),
        (1, "1 window has"),
        (2, "2 windows have"),
        (2000, "2,000 windows have"),
    ],
)
def test_a_verb_follows_its_number(n: int, said: str) -> None:
    assert plural(n, "window has", "windows have") == said
    assert plural(n, "window") == said.rpartition(" ")[0]


@pytest.mark.parametrize(
    ("count", "lone", "said"),
    [
        (7, 0, "7 videos"),
        (7, 2, "5 videos and 2 lone questions"),
        (2, 1, "1 video and 1 lone question"),
        (4, 4, "4 lone questions"),
        (0, 0, "0 videos"),
    ],
)
def test_questions_about_no_video_are_not_called_videos(count: int, lone: int, said: str) -> None:
    assert clusters(count, lone) == said
