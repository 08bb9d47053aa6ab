"""The line that installs an extra fits the way in which egomem was installed."""

from __future__ import annotations

import importlib.metadata
import json
from typing import Any

import pytest

from egomem import extras
from egomem.errors import MissingExtraError


class _Installed:
    def __init__(self, record: dict[str, Any] | None) -> None:
        self.record = record

    def read_text(self, name: str) -> str | None:
        assert name == "direct_url.json"
        return None if self.record is None else json.dumps(self.record)


@pytest.mark.parametrize(
    ("record", "line"),
    [
        (None, "pip install 'egomem[speech]'"),
        ({"url": "file:///home/me/clone", "dir_info": {}}, "pip install '/home/me/clone[speech]'"),
        (
            {"url": "file:///home/me/my%20clone", "dir_info": {"editable": True}},
            "pip install -e '/home/me/my clone[speech]'",
        ),
        (
            {"url": "file:///tmp/egomem-0.1.0-py3-none-any.whl", "archive_info": {}},
            "pip install '/tmp/egomem-0.1.0-py3-none-any.whl[speech]'",
        ),
        (
            {"url": "https://a.org/egomem.git", "vcs_info": {"vcs": "git", "commit_id": "b7"}},
            "pip install 'egomem[speech] @ git+https://a.org/egomem.git@b7'",
        ),
    ],
)
def test_the_line_names_where_egomem_came_from(
    record: dict[str, Any] | None, line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.metadata, "distribution", lambda name: _Installed(record))
    assert extras.install_line("speech") == line
    assert MissingExtraError("faster-whisper", "speech").remedy == f"run: {line}"
