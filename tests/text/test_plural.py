from __future__ import annotations

import pytest

from egomem.text import plural


@pytest.mark.parametrize(
    ("n", "verb"),
    [
        (0, "0 windows have"),
        (1, "1 window has"),
        (2, "2 windows have"),
        (2000, "2,000 windows have"),
    ],
)
def test_a_verb_follows_its_number(n: int, verb: str) -> None:
    assert plural(n, "window has", "windows have") == verb
    assert plural(n, "window") == verb.rpartition(" ")[0]
