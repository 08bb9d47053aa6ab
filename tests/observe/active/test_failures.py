"""A run without a caption for want of a reply is an error; it goes on where it was answered."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from egomem.errors import ModelError
from egomem.models import Reply
from egomem.observe.active import CaptionLog, files, load_log
from egomem.observe.active.files import InstalledTools, caption_file
from egomem.observe.active.state import Drafted
from egomem.records import Status

from .conftest import TRUE

Make = Callable[..., Any]
DEAD = Reply(status=Status.ERROR, detail="nothing listens there")
NOTHING_INSTALLED = InstalledTools(None, None, None, ())


@pytest.fixture
def caption(
    make_tools: Make, scripted: Make, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Callable[..., Any]:
    """Captions a made-up file with answers of a scripted model."""
    monkeypatch.setattr(files, "tools_for", lambda *_, **__: make_tools())

    def run(*, active: bool = True, log: Path | None = None, **answers: Any) -> Any:
        backend, _ = scripted(**answers)
        monkeypatch.setattr(files, "backend_for", lambda *_: backend)
        return asyncio.run(
            caption_file(tmp_path / "x.mp4", active=active, parts=NOTHING_INSTALLED, log=log)
        )

    return run


@pytest.mark.parametrize("active", [True, False])
@pytest.mark.parametrize("status", [Status.ERROR, Status.REFUSED])
def test_no_draft_is_an_error(caption: Make, active: bool, status: Status) -> None:
    with pytest.raises(ModelError, match=r"no caption of rec\.mp4: captioner: .*why$"):
        caption(active=active, draft=lambda r: Reply(status=status, detail="why"))


def test_a_server_that_dies_behind_the_draft_is_an_error(caption: Make) -> None:
    with pytest.raises(ModelError, match="verifier: error: nothing listens there"):
        caption(check=lambda r: DEAD)


def test_what_was_looked_at_and_not_established_is_none(caption: Make) -> None:
    assert caption(check=lambda r: {"claims": []}).caption == ""


@pytest.mark.parametrize("role", ["draft", "check"])
def test_a_log_goes_on_behind_its_last_answered_request(
    caption: Make, tmp_path: Path, role: str
) -> None:
    log = tmp_path / "log.json"
    with pytest.raises(ModelError, match="the same command goes on"):
        caption(log=log, **{role: lambda r: DEAD})
    drafts: list[Any] = []

    def draft(asked: Any) -> str:
        drafts.append(asked)
        return f"[0:00-0:20] {TRUE}."

    assert TRUE in caption(log=log, draft=draft).caption.lower()
    assert len(drafts) == (role == "draft")
    events = load_log(log).events
    assert sum(isinstance(e, Drafted) for e in events) == 1


def test_a_log_with_a_caption_is_not_cut(caption: Make, tmp_path: Path) -> None:
    log = tmp_path / "log.json"
    first = caption(log=log, plan=lambda r: DEAD)
    assert TRUE in first.caption.lower()
    assert any("nothing listens" in f for f in first.state.faults)
    before: CaptionLog = load_log(log)
    caption(log=log, draft=lambda r: DEAD)
    assert load_log(log) == before
