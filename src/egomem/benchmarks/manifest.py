"""Where a benchmark's media comes from: names, sources and hashes, never the media."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from egomem.benchmarks.benchmark import Benchmark
from egomem.benchmarks.checks import file_sha256
from egomem.records import Question


def manifest(benchmark: Benchmark, *, hash_media: bool = False) -> dict[str, Any]:
    """The benchmark's questions as one hash, and each video's source, licence and SHA-256.

    `hash_media` reads the files at hand for the videos that have no hash yet.
    """
    videos = []
    for video in benchmark.videos:
        sha256 = video.sha256
        if sha256 is None and hash_media and video.path and Path(video.path).is_file():
            sha256 = file_sha256(Path(video.path))
        videos.append(
            {
                "id": video.id,
                "source_dataset": video.source_dataset,
                "source_uid": video.source_uid,
                "licence": video.licence,
                "duration": video.duration,
                "sha256": sha256,
            }
        )
    return {
        "name": benchmark.name,
        "licence": benchmark.licence,
        "provenance": benchmark.provenance,
        "questions": len(benchmark.questions),
        "questions_sha256": hashlib.sha256(
            "".join(question_hash(q) for q in benchmark.questions).encode()
        ).hexdigest(),
        "videos": videos,
    }


def question_hash(question: Question) -> str:
    """SHA-256 of a question's whole content, its id, key, evidence and tags included."""
    held = json.dumps(
        question.model_dump(mode="json"), ensure_ascii=False, sort_keys=True, separators=(",", ":")
    )
    return hashlib.sha256(held.encode()).hexdigest()
