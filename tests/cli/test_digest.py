import json
from pathlib import Path

import pytest

import egomem
from egomem.cli import main
from egomem.records import Observation, Recording
from egomem.timeline import Clock, Span, read_start


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "memory"
    monkeypatch.setenv("EGOMEM_MEMORY", str(folder))
    with egomem.open(folder, create=True) as memory:
        for day in (8, 9):
            id = f"walk-{day}"
            clock = Clock(read_start(f"2026-06-0{day}T09:10+02:00"))
            memory.store.put_recording(Recording(id=id, name=id, duration=300, clock=clock))
            memory.store.add(
                Observation(
                    recording=id,
                    span=Span(60.0 * k, 60.0 * k + 30),
                    text=text,
                    source="caption",
                    track="caption/test",
                )
                for k, text in enumerate(
                    (f"I buy {day} stamps from Edda for 4.50 euros", "I feed the ducks by the lake")
                )
            )
    return folder


def printed(capsys: pytest.CaptureFixture[str]) -> str:
    return " ".join(capsys.readouterr().out.split())


def test_digests_are_written_and_shown(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "--digests"]) == 0
    assert "no digests; write them with: egomem digest" in printed(capsys)
    assert main(["digest"]) == 0
    text = printed(capsys)
    assert "hour: 2 written; 100% of exact attributes kept" in text
    assert main(["digest"]) == 0
    assert "hour: 2 current" in printed(capsys)
    assert main(["show", "--digests", "--day", "2026-06-09"]) == 0
    text = printed(capsys)
    assert "Tuesday 2026-06-09 09:10 I buy 9 stamps from Edda for 4.50 euros" in text
    assert "prices: 4.50 euros" in text
    assert "2026-06-08" not in text
    assert main(["show", "--digests", "--facts"]) == 0
    assert "price: 4.50 euros (09:10," in printed(capsys)


def test_digests_as_json(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["digest", "--json"])
    result = json.loads(capsys.readouterr().out)["result"]
    assert [(level["level"], level["built"]) for level in result["levels"]] == [
        ("hour", 2),
        ("day", 2),
    ]
    main(["show", "--digests", "--json"])
    (first, second) = json.loads(capsys.readouterr().out)["result"]["digests"]
    assert first["title"] == "Monday 2026-06-08"
    (hour,) = first["parts"]
    assert hour["title"] == "09:10-09:11"
    assert hour["lines"][0]["rests_on"]
    assert {f["kind"] for f in hour["facts"]} == {"name", "number", "price"}
    assert not second["stale"]


def test_nothing_later_than_a_moment_is_shown(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["digest"])
    capsys.readouterr()
    assert main(["show", "--digests", "--at", "2026-06-08T20:00+02:00"]) == 0
    text = printed(capsys)
    assert "2026-06-08" in text
    assert "2026-06-09" not in text


def test_what_is_out_of_date_says_so(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["digest"])
    with egomem.open(folder) as memory:
        memory.store.add(
            [
                Observation(
                    recording="walk-8",
                    span=Span(200, 210),
                    text="a tram passes",
                    source="caption",
                    track="caption/test",
                )
            ]
        )
    capsys.readouterr()
    main(["show", "--digests"])
    assert printed(capsys).count("out of date") == 2
    assert main(["check"]) == 0
    assert "digests: 2 out of date; run: egomem digest" in printed(capsys)
    assert main(["check", "--repair"]) == 0
    assert "out of date" not in printed(capsys)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["digest", "--levels", "week"], "there is no level of digests 'week'; use some of 10min"),
        (["show", "--digests", "--day", "9 June"], "'9 June' is not a date; write it as 2026"),
        (["show", "--day", "2026-06-09"], "--day, --facts and --at belong to --digests"),
    ],
)
def test_wrong_usage_is_one_line(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    assert main(arguments) == 2
    assert message in " ".join(capsys.readouterr().err.split())


def test_removing(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["digest"])
    capsys.readouterr()
    assert main(["digest", "--remove"]) == 0
    assert "removed: 4 digests" in printed(capsys)


def test_import_keeps_digests_current(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["digest"])
    rows = tmp_path / "more.jsonl"
    row = {"video_id": "walk-9", "start": 240, "end": 250, "text": "Edda waves from tower 62"}
    rows.write_text(json.dumps(row) + "\n")
    assert main(["import", str(rows)]) == 0
    capsys.readouterr()
    main(["show", "--digests", "--day", "2026-06-09"])
    text = printed(capsys)
    assert "tower 62" in text
    assert "out of date" not in text
