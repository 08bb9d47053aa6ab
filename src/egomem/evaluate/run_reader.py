"""A run's folder, read for status, rescoring, merging and reports. Nothing is written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from egomem.benchmarks import Benchmark
from egomem.errors import UsageError, missing_folder
from egomem.evaluate.caption_usage import CaptionUsage, cached_usage, failed_window_key
from egomem.evaluate.captions import Uncaptioned, track_with_cuts, uncaptioned
from egomem.evaluate.config import Arm, Config
from egomem.evaluate.fingerprint import digest
from egomem.evaluate.measures import reply_keys
from egomem.evaluate.run_db import read_run
from egomem.evaluate.run_folder import chosen_questions
from egomem.evaluate.run_info import ABOUT, BENCHMARK, read_run_info
from egomem.evaluate.stored_run import Finished, StoredRun, TrialKey
from egomem.memory import Store
from egomem.memory.database_errors import DATABASE_NAME as DATABASE
from egomem.memory.failed_windows import failed_windows
from egomem.memory.replies import ReplyCache
from egomem.records import Answer, Question, Usage
from egomem.score.scored_answers import ScoredAnswers, score_answers
from egomem.text import plural


@dataclass
class Run:
    """A run as it lies on the disk. `cells` are the answers of its configuration, `stale` those of
    its cells that are of an earlier one, and count nowhere."""

    folder: Path
    about: dict[str, Any]
    config: Config
    benchmark: Benchmark
    stored: StoredRun
    stale: frozenset[TrialKey] = frozenset()

    @property
    def memory(self) -> Path:
        """Where the memory lies, or lay, that was read: its own, or the one that was given."""
        if self.config.given_memory and self.about.get("memory"):
            return Path(str(self.about["memory"]))
        return self.folder / "memory"

    @property
    def remembers(self) -> bool:
        """Whether that memory is still there."""
        return (self.memory / DATABASE).is_file()

    @cached_property
    def cells(self) -> dict[TrialKey, Finished]:
        answers = self.stored.cells
        return {k: f for k, f in answers.items() if k not in self.stale} if self.stale else answers

    @property
    def questions(self) -> tuple[Question, ...]:
        return chosen_questions(self.benchmark.questions, self.config)

    @property
    def columns(self) -> list[Arm]:
        """The columns that have an answer."""
        arms = {column for _, column in self.cells}
        return [c for c in self.config.arms() if c in arms]

    @property
    def held_back(self) -> list[Arm]:
        """The columns that the gate kept from being answered, when the run came to its end."""
        stopped = (self.about.get("last") or {}).get("stopped") or ()
        conditions = {c: self.config.condition(c) for c in self.config.arms()}
        return [c for c, w in conditions.items() if c.reader in stopped and not w.judges_bias]

    def answers(self, column: Arm) -> dict[str, Answer]:
        cells = ((q.id, self.cells.get((q.id, column))) for q in self.benchmark.questions)
        return {id: cell.answer for id, cell in cells if cell is not None}

    def usage(self, column: Arm) -> dict[str, Usage]:
        """What each answer took, by question; those are left out of which it is not known."""
        cells = ((q.id, self.cells.get((q.id, column))) for q in self.questions)
        return {
            id: cell.usage
            for id, cell in cells
            if cell is not None and (cell.usage.requests or not reply_keys(cell.answer))
        }

    def built(self, column: Arm) -> CaptionUsage:
        """What the captions that a column reads took, once for each video."""
        if self.config.condition(column).captions == "none":
            return CaptionUsage()
        if self.config.given_memory:
            return CaptionUsage(missing="the captions came with the memory that was given")
        track = self.about.get("tracks", {}).get(column.label)
        if not track or not self.remembers:
            return CaptionUsage(missing="the captions are not in the run's folder")
        video_ids = {q.recording for q in self.questions}
        by_video: dict[str, Usage] = {}
        unknown = 0
        with ReplyCache(self.folder) as cache, Store.open(self.memory) as store:
            tracks = track_with_cuts(store, track)
            for video, recording in self.about.get("recordings", {}).items():
                if video not in video_ids and None not in video_ids:
                    continue
                for usage, frames in self._caption_usages(store, cache, recording, tracks):
                    unknown += usage is None
                    usage = usage or Usage(requests=1, frames=frames)
                    by_video[video] = by_video.get(video, Usage()) + usage
        windows = plural(unknown, "window")
        why = f"what {windows} took is not known any more" if unknown else ""
        return CaptionUsage(by_video=by_video, missing=why)

    def _caption_usages(
        self, store: Store, cache: ReplyCache, recording: str, tracks: Sequence[str]
    ) -> Iterator[tuple[Usage | None, int]]:
        """What each window of a recording took, with the number of its frames; None where that is
        not known."""
        recorded = self.stored.caption_usage
        for caption in store.view().observations(recording=recording, tracks=tracks):
            usage = recorded.get(caption.provenance.request or "") or cached_usage(caption, cache)
            yield usage, len(caption.provenance.frames)
        for track in tracks:
            for window in failed_windows(store, recording, track):
                yield recorded.get(failed_window_key(track, recording, window.span)), 0

    def uncaptioned(self) -> list[Uncaptioned]:
        """The windows that have no caption in the tracks that this run made."""
        if self.config.given_memory or not self.remembers:
            return []
        video_ids = {q.recording for q in self.questions}
        recordings = self.about.get("recordings", {})
        by_video = {v: id for v, id in recordings.items() if v in video_ids or None in video_ids}
        tracks = self.about.get("tracks", {})
        with Store.open(self.memory) as store:
            return uncaptioned(
                store,
                by_video,
                [c for t in tracks.values() if t for c in track_with_cuts(store, t)],
            )

    def sheet(self, column: Arm, verdicts: Mapping[str, float] | None = None) -> ScoredAnswers:
        """The column's answers to the questions of this run; one without an answer is missing."""
        return score_answers(
            self.questions, self.answers(column), videos=self.benchmark.videos, verdicts=verdicts
        )


def check_run(folder: Path) -> None:
    """Raises UsageError where a folder holds no run."""
    if not (folder / ABOUT).is_file():
        raise UsageError(
            f"there is no run at {folder}{missing_folder(folder)}", "name the folder given to --out"
        )


def load_run(folder: Path, stored: StoredRun | None = None) -> Run:
    """Read a run's folder. `stored`: its record, where that is open already.

    Raises UsageError where it holds no run.
    """
    check_run(folder)
    about = read_run_info(folder)
    try:
        config = Config.model_validate(about["config"])
        text = (folder / BENCHMARK).read_text(encoding="utf-8")
        benchmark = Benchmark.model_validate_json(text)
    except (KeyError, OSError, ValidationError) as error:
        why = "" if isinstance(error, KeyError | OSError) else " that this version can read"
        raise UsageError(
            f"there is no run{why} at {folder}", "name the folder given to --out"
        ) from None
    stored = stored or read_run(folder)
    stale = frozenset(_stale(about.get("stale") or {}, config, stored))
    return Run(folder, about, config, benchmark, stored, stale)


def _stale(
    noted: Mapping[str, Mapping[str, str]], config: Config, record: StoredRun
) -> Iterator[TrialKey]:
    """The answers that the last call found to be of an earlier configuration, and that are still
    there: it may have been killed at any moment since."""
    for column in config.arms():
        for question, parts in noted.get(column.label, {}).items():
            answer = record.cells.get((question, column))
            if answer is not None and digest(answer.parts) == parts:
                yield question, column


def stale_text(run: Run) -> str:
    """What is said of a run's stale answers; "" where it has none."""
    n = len(run.stale)
    are = plural(n, "answer is", "answers are")
    counted = "is" if n == 1 else "are"
    return f"{are} of another configuration and {counted} not counted" if n else ""
