"""The file of answers: durable while a run goes on, in order and without times at its end."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from egomem.errors import FullError
from egomem.evaluate import Arm, Results
from egomem.evaluate.results import NAME, UNREADABLE, Finished
from egomem.evaluate.usage_log import NAME as USAGE
from egomem.records import Answer, Status, Usage

CLEAN, VIDEO = (Arm(setting=s, reader="ollama:x") for s in ("clean", "video"))
ORDER = [(id, column) for id in ("q1", "q2") for column in (CLEAN, VIDEO)]


def cell(id: str, column: Arm, *, seconds: float = 1.0, part: str = "a") -> Finished:
    """A cell whose reply took so many seconds; what it says does not depend on them."""
    usage = Usage(requests=1, tokens_in=7, seconds=seconds)
    asked = {
        "step": "asked",
        "raw": "B",
        "key": f"key-{part}",
        "cached": seconds < 1,
        "usage": usage.model_dump(mode="json"),
    }
    said = Answer(
        text="b",
        choice="B",
        status=Status.PARSED,
        strategy=column.setting,
        usage=usage,
        trace=({"step": "looked", "frames": []}, asked, "a step of another package"),
    )
    return Finished(question=id, column=column, parts={"question": part}, answer=said, usage=usage)


def test_what_was_measured_makes_no_difference_to_the_answers(tmp_path: Path) -> None:
    said = []
    for k, keys in enumerate((ORDER, ORDER[::-1])):
        folder = tmp_path / str(k)
        folder.mkdir()
        held = Results.read(folder)
        for n, (id, column) in enumerate(keys):
            held.add(cell(id, column, seconds=0.5 * k + n))
        held.settle(ORDER)
        said.append((folder / NAME).read_bytes())
    assert said[0] == said[1]
    assert b"seconds" not in said[0]
    assert b"cached" not in said[0]


def test_a_file_in_order_gives_back_every_measure(tmp_path: Path) -> None:
    held = Results.read(tmp_path)
    for n, (id, column) in enumerate(reversed(ORDER)):
        base = cell("", CLEAN, seconds=9.5).answer if n else None
        held.add(cell(id, column, seconds=n + 0.25).model_copy(update={"base": base}))
    before = dict(held.cells)
    held.settle(ORDER)
    again = Results.read(tmp_path)
    assert list(again.cells) == ORDER
    assert again.cells == before
    assert all(c.at and c.version for c in again.cells.values())
    assert again.cells[ORDER[0]].usage.seconds == 3.25
    assert again.cells[ORDER[0]].base is not None
    assert again.cells[ORDER[0]].base.usage.seconds == 9.5


def test_a_file_in_order_is_left_alone(tmp_path: Path) -> None:
    held = Results.read(tmp_path)
    for id, column in ORDER:
        held.add(cell(id, column))
    held.settle(ORDER)
    stamps = [(tmp_path / n).stat().st_mtime_ns for n in (NAME, USAGE)]
    again = Results.read(tmp_path)
    again.settle(ORDER)
    assert [(tmp_path / n).stat().st_mtime_ns for n in (NAME, USAGE)] == stamps
    again.settle(ORDER[::-1])
    assert list(Results.read(tmp_path).cells) == ORDER[::-1]


def test_cells_of_other_settings_stay_behind_those_of_this_run(tmp_path: Path) -> None:
    held = Results.read(tmp_path)
    other = Arm(setting="caption@30", reader="ollama:x")
    for column in (other, VIDEO, CLEAN):
        held.add(cell("q1", column))
    held.settle([("q0", CLEAN), ("q1", CLEAN), ("q1", VIDEO)])
    assert [c for _, c in Results.read(tmp_path).cells] == [CLEAN, VIDEO, other]


def test_a_torn_line_stays_alone_and_is_put_aside_at_the_end(tmp_path: Path) -> None:
    held = Results.read(tmp_path)
    held.add(cell("q1", CLEAN))
    file = tmp_path / NAME
    whole = file.read_bytes()
    file.write_bytes(whole[:-25])
    held = Results.read(tmp_path)
    assert held.unreadable == [1]
    held.add(cell("q2", CLEAN))
    assert list(Results.read(tmp_path).cells) == [("q2", CLEAN)]
    held.settle(ORDER)
    assert (tmp_path / UNREADABLE).read_bytes() == whole[:-25] + b"\n"
    assert Results.read(tmp_path).unreadable == []
    (tmp_path / NAME).write_bytes(b"\x00\n" + file.read_bytes())
    Results.read(tmp_path).settle(ORDER)
    assert (tmp_path / UNREADABLE).read_bytes() == whole[:-25] + b"\n\x00\n"


def test_an_answer_replaced_leaves_its_keys_behind(tmp_path: Path) -> None:
    held = Results.read(tmp_path)
    held.add(cell("q1", CLEAN, part="before"))
    held.settle(ORDER)
    held = Results.read(tmp_path)
    held.add(cell("q1", CLEAN, part="after"))
    held.settle(ORDER)
    again = Results.read(tmp_path)
    keys = [again.measure(("q1", CLEAN), {"question": p}) for p in ("before", "after", "never")]
    assert [row and row["keys"] for row in keys] == [["key-before"], ["key-after"], None]
    assert again.cells["q1", CLEAN].parts == {"question": "after"}


@pytest.mark.parametrize("damage", ["gone", "torn", "other"])
def test_a_lost_measure_is_counted_and_the_answer_stays(tmp_path: Path, damage: str) -> None:
    held = Results.read(tmp_path)
    for id, column in ORDER:
        held.add(cell(id, column))
    held.settle(ORDER)
    file = tmp_path / USAGE
    if damage == "gone":
        file.unlink()
    else:
        rows = file.read_bytes().split(b"\n")
        rows[1] = rows[1][:40] if damage == "torn" else b'{"question": 3, "column": []}'
        file.write_bytes(b"\n".join(rows))
    again = Results.read(tmp_path)
    assert again.unmeasured == (4 if damage == "gone" else 1)
    assert {c.answer.choice for c in again.cells.values()} == {"B"}
    assert again.cells[ORDER[1]].usage == Usage()


def test_a_disk_that_is_full_loses_nothing(tmp_path: Path) -> None:
    held = Results.read(tmp_path)
    held.add(cell("q1", CLEAN))
    before = (tmp_path / NAME).read_bytes()
    (tmp_path / f"{USAGE}.part").mkdir()  # what cannot be written
    with pytest.raises(FullError, match="nothing that was finished is lost"):
        held.settle(ORDER)
    assert (tmp_path / NAME).read_bytes() == before
    assert [json.loads(line)["question"] for line in before.splitlines()] == ["q1"]
