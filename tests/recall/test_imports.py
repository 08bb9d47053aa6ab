"""A search without a model loads neither the models nor the grammar of time before it asks."""

from __future__ import annotations

import subprocess
import sys

import pytest

import egomem.models


def test_recall_loads_little():
    code = (
        "import egomem.recall, sys; "
        "print(*[m for m in sys.modules if m.startswith(('egomem.models', 'asyncio')) "
        "or m == 'egomem.timeline.grammar'])"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.split() == []


def test_every_name_of_models_is_there():
    for name in egomem.models.__all__:
        assert getattr(egomem.models, name)
    with pytest.raises(AttributeError, match="nothing"):
        egomem.models.nothing  # noqa: B018
