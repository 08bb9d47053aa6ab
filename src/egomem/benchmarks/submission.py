"""Answers in the form in which a benchmark takes them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from egomem.benchmarks.benchmark import Benchmark
from egomem.benchmarks.registry import FORMATS
from egomem.errors import UsageError, reason
from egomem.records import Answer


def write_submission(path: Path, benchmark: Benchmark, answers: Mapping[str, Answer]) -> int:
    """Write a file of answers in the form of the benchmark's format; returns how many it holds.

    `answers` by the question's id. Those without a choice are left out: no benchmark says how an
    abstention is handed in, and a made-up letter would count as an answer. Raises UsageError where
    the format has no form for this, and where the file cannot be written.
    """
    submission = FORMATS.get(benchmark.format).submission
    if submission is None or submission.document is None:
        raise UsageError(
            f"egomem knows no form of submission for {benchmark.format}",
            "formats with one: " + ", ".join(sorted(formats_with_submissions())),
        )
    chosen = [
        (question, answer)
        for question in benchmark.questions
        if (answer := answers.get(question.id)) is not None and answer.choice is not None
    ]
    try:
        path.write_text(json.dumps(submission.document(chosen), indent=1) + "\n", encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot write {path}: {reason(error)}", "name another file") from None
    return len(chosen)


def formats_with_submissions() -> list[str]:
    return [
        name
        for name, format in FORMATS.all().items()
        if format.submission is not None and format.submission.document is not None
    ]
