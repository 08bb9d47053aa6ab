"""Where a benchmark's media comes from: names, sources and hashes, never the media."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from egomem.benchmarks.benchmark import Benchmark
from egomem.hashing import hash_file, hash_json, hash_text
from egomem.records import Question


def manifest(benchmark: Benchmark, *, hash_media: bool = False) -> dict[str, Any]:
    """The benchmark's questions as one hash, and each video's source, licence and SHA-256.

    `hash_media` reads the files at hand for the videos that have no hash yet.
    """
    videos = []
    for video in benchmark.videos:
        sha256 = video.sha256
        if sha256 is None and hash_media and video.path and Path(video.path).is_file():
            sha256 = hash_file(Path(video.path))
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
        # Of questions as read, not of the file: another line ending is the same benchmark, a
        # changed key is not.
        "questions_sha256": hash_text("".join(map(question_hash, benchmark.questions))),
        "videos": videos,
    }


def question_hash(question: Question) -> str:
    """SHA-256 of a question's whole content, its id, key, evidence and tags included."""
    return hash_json(question.model_dump(mode="json"))
