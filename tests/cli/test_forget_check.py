from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from egomem.cli import main
from egomem.memory import Store
from egomem.records import Observation, Recording
from egomem.timeline import Clock, Span


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    folder = tmp_path / "memory"
    clock = Clock(datetime(2026, 3, 2, 8, 0, tzinfo=UTC))
    with Store.open(folder, create=True) as store:
        for id, start in (("day", clock), ("clip", None)):
            store.put_recording(Recording(id=id, name=f"{id}.mp4", duration=90, clock=start))
            store.add(
                Observation(
                    recording=id,
                    span=Span(at, at + 30),
                    text=f"{what} in the {id}",
                    source="caption",
                    track="caption/test",
                )
                for at, what in ((0, "a kettle"), (30, "a letter"), (60, "a door"))
            )
    return folder


def run(folder: Path, *arguments: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    code = main([*arguments, "--memory", str(folder)])
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def remaining_texts(folder: Path) -> list[str]:
    with Store.open(folder) as store:
        return [o.text for o in store.view().observations()]


def test_forget_by_text_first_as_a_dry_run(memory: Path, capsys) -> None:
    code, out, _ = run(memory, "forget", "--match", "LETTER", "--dry-run", capsys=capsys)
    assert code == 0
    assert '"a letter in the day" (caption)' in out
    assert "would remove: 2 observations" in out
    assert len(remaining_texts(memory)) == 6
    code, out, _ = run(memory, "forget", "--match", "letter", capsys=capsys)
    assert (code, out) == (0, "removed: 2 observations\n")
    assert len(remaining_texts(memory)) == 4


@pytest.mark.parametrize(
    ("arguments", "gone"),
    [
        (["--from", "2026-03-02T08:00:40+00:00", "--until", "2026-03-02T08:00:50+00:00"], 1),
        (["--from", "2026-03-02T08:00:40+00:00"], 2),
        (["--from", "2026-03-02"], 3),
        (["--from", "2026-03-02", "--until", "2026-03-02"], 3),
        (["--from", "2026-03-01", "--until", "yesterday"], 0),
        (["--from", "this morning"], 3),
        (["--from", "2026-03-03"], 0),
        (["--recording", "clip", "--from", "0:40", "--until", "0:50"], 1),
        (["--recording", "clip", "--until", "0:35"], 2),
        (["--recording", "clip"], 3),
    ],
)
def test_forget_by_time(memory: Path, arguments: list[str], gone: int, capsys) -> None:
    code, out, _ = run(memory, "forget", *arguments, "--json", capsys=capsys)
    assert code == 0
    assert json.loads(out)["result"]["counts"]["observations"] == gone
    assert json.loads(out)["result"]["observations"] is None
    assert len(remaining_texts(memory)) == 6 - gone


def test_forget_says_how_times_were_read(memory: Path, capsys) -> None:
    _, out, _ = run(memory, "forget", "--from", "today", "--dry-run", capsys=capsys)
    assert "times read as: from 2026-03-02T00:00:00+00:00\n" in out
    assert "would remove: 3 observations, 1 recordings" in out


def test_forget_without_a_condition_is_refused(memory: Path, capsys) -> None:
    code, _, err = run(memory, "forget", capsys=capsys)
    assert code == 2
    assert err == ("egomem: nothing was named to forget; give a recording, a time or a text\n")


def test_check_and_repair(memory: Path, capsys) -> None:
    code, out, _ = run(memory, "check", capsys=capsys)
    assert (code, out) == (
        0,
        "2 recordings, 6 observations, 1 segments, 0 vector files\nno faults\n",
    )
    next((memory / "index").glob("*.seg")).unlink()
    code, _, err = run(memory, "check", capsys=capsys)
    assert code == 1
    assert "is missing; run: egomem check --repair" in err
    code, out, _ = run(memory, "check", "--repair", capsys=capsys)
    assert code == 0
    assert out.endswith("no faults any more\n")
    code, out, _ = run(memory, "check", "--json", capsys=capsys)
    assert json.loads(out)["result"]["findings"] == []


def test_what_others_put_there_is_named_and_no_fault(memory: Path, tmp_path: Path, capsys) -> None:
    (memory / "index" / ".DS_Store").write_bytes(b"x")
    (tmp_path / "elsewhere").mkdir()
    (memory / "thumbnails").symlink_to(tmp_path / "elsewhere")
    code, out, err = run(memory, "check", capsys=capsys)
    assert code == 1
    assert "thumbnails is a link" in err
    assert "note: index holds what is not egomem's, and is left alone: .DS_Store" in out
    code, out, _ = run(memory, "forget", "--recording", "day", capsys=capsys)
    assert code == 0
    assert f"note: {memory / 'thumbnails'} is a link: what lies behind it is left alone" in out
    (memory / "thumbnails").unlink()
    code, out, _ = run(memory, "check", "--json", capsys=capsys)
    assert code == 0
    assert ".DS_Store" in json.loads(out)["result"]["notes"][0]
