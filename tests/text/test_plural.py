from __future__ import annotations

import pytest

from egomem.text import plural


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
