"""The reader on data that nobody here wrote; the whole of it is bench/recall_answers.py."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from egomem.records import Question

ROOT = Path(__file__).resolve().parents[3]
DATA = Path(os.environ.get("EGOMEM_SHARED", ROOT.parent / "shared")) / "data"

pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason=f"no evaluation data at {DATA}")


@pytest.fixture(scope="module")
def bench() -> ModuleType:
    spec = importlib.util.spec_from_file_location("answers", ROOT / "bench/recall_answers.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


def test_the_wrong_person_is_told_apart(bench, tmp_path):
    """LoCoMo, one conversation: its adversarial questions give an event to the wrong person."""
    turns = [t for t in bench.rows(DATA, "locomo/turns") if t["conv_id"] == "30"]
    rows = [r for r in bench.rows(DATA, "locomo/questions") if r["conv_id"] == "30"]
    with bench.converse(str(tmp_path), turns) as store:
        view = store.view()
        confidences = [bench.ask(view, Question.of(r["question"]), None).confidence for r in rows]
    answerable = np.array([r["answerable"] for r in rows])
    confidence = np.array(confidences)
    assert bench.auroc(confidence[answerable], confidence[~answerable]) > 0.82
    assert (confidence[answerable] >= 0.35).mean() > 0.6
    assert (confidence[~answerable] >= 0.35).mean() < 0.3


def test_what_came_next_in_a_kitchen(bench, tmp_path):
    """AMB Q2 on one video: after an object at a time; chance is 0.20."""
    narrated = [r for r in bench.rows(DATA, "epic_amb/epic_memory") if r["video_id"] == "P01_05"]
    rows = bench.rows(DATA, "epic_amb/amb_q2_questions")
    rows = [r for r in rows if r["video_id"] == "P01_05"]
    with bench.remember(str(tmp_path), narrated, bench.caption) as store:
        result = bench.choice("Q2", store.view(), rows, None, 0.2)
    assert result.n == len(rows) > 20
    assert result.value > 0.6
    assert result.statuses == {"parsed": len(rows)}


def test_blind_baselines_are_what_they_say(bench):
    rows = [
        {"question": "a cup", "choices": ["cup", "long option"], "answer_idx": 0},
        {"question": "a cup", "choices": ["x", "the longest"], "answer_idx": 1},
    ]
    blind = bench.blind_choices(rows)
    assert blind["longest option"] == 0.5
    assert blind["words of the question"] == 0.75  # one found, one tie
    assert bench.credit([1.0, 1.0, 0.0], 0) == 0.5
    assert bench.auroc(np.array([1.0, 0.5]), np.array([0.5, 0.0])) == 0.875
