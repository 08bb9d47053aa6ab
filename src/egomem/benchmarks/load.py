"""Files -> a benchmark, in whichever format they are."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, tzinfo
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from egomem.benchmarks.benchmark import Benchmark, BenchmarkFault
from egomem.benchmarks.checks import question_faults
from egomem.benchmarks.formats import (
    capmem,
    egolifeqa,
    egoschema,
    mvbench,
    native,
    nextgqa,
    videomme,
)
from egomem.benchmarks.rows import (
    FILE_ENDINGS,
    JSON_LINES_ENDINGS,
    Fields,
    LoadedItem,
    ParsedRow,
    base_name,
    read_rows,
)
from egomem.errors import UsageError, reason
from egomem.records import Question, Video

Read = Callable[[Sequence[Path]], Iterator[LoadedItem]]


@dataclass(frozen=True, slots=True)
class Format:
    """How a data set's files are told, by their first row, and read."""

    name: str
    about: str
    detect: Callable[[Fields], bool]
    read: Read | None = None
    licence: str = ""


def _native(files: Sequence[Path]) -> Iterator[LoadedItem]:
    videos = [p for p in files if base_name(p).rpartition(".")[0] == "videos"]
    yield from native.read([p for p in files if p not in videos], videos)


FORMATS: dict[str, Format] = {
    f.name: f
    for f in (
        Format("capmem", "CapMem's release (reconstructed)", capmem.detect, capmem.read,
               capmem.LICENCE),
        Format("egolifeqa", "EgoLifeQA; needs a zone and the date of DAY1", egolifeqa.detect),
        Format("egoschema", "EgoSchema", egoschema.detect, egoschema.read),
        Format("videomme", "Video-MME, grouped or flat", videomme.detect, videomme.read,
               videomme.LICENCE),
        Format("nextgqa", "NExT-GQA and NExT-QA", nextgqa.detect, nextgqa.read, nextgqa.LICENCE),
        Format("mvbench", "MVBench and MLVU", mvbench.detect, mvbench.read),
        Format("native", "egomem's own: JSON Lines or Parquet", native.detect, _native),
    )
}  # fmt: skip
"""Every format by name, in the order in which they are tried."""


def load(
    path: Path | str,
    format: str | None = None,
    *,
    media: Path | None = None,
    strict: bool = True,
    zone: tzinfo | None = None,
    day_one: date | None = None,
    frame_base: int = 20,
) -> Benchmark:
    """Read a benchmark from a folder or a single file.

    `format` is one of `FORMATS`, or is told from the first row. `media` is a folder that holds the
    videos. With `strict=False`, questions that can be read are kept, faulty or not, so that n is as
    published. `zone`, `day_one` and `frame_base` place EgoLife's numbered days and frames. A row
    that cannot be used becomes a fault by id and line, and the rest loads. Raises UsageError where
    there is nothing to read or no format fits.
    """
    path = Path(path)
    files = _files(path)
    first, unreadable = _look(path, files)
    chosen = _format(path, first, format)
    folder = path if path.is_dir() else path.parent
    about = _about(folder)
    read = chosen.read or partial(egolifeqa.read, zone=zone, day_one=day_one, frame_base=frame_base)
    name = str(about.get("name") or _stem(path))
    questions, videos, faults = _collect(read(_questions(path, first, chosen)), strict)
    made = Benchmark(
        name=name,
        format=chosen.name,
        videos=tuple(_placed(video, folder) for video in videos),
        questions=questions,
        faults=(*unreadable, *faults),
        licence=str(about.get("licence") or chosen.licence),
        provenance=str(about.get("provenance") or ""),
    )
    return made.with_media(media) if media is not None else made


def _placed(video: Video, folder: Path) -> Video:
    """A path that a file of videos names is meant from that file's folder."""
    path = str(folder / video.path) if video.path else None
    return video.model_copy(update={"path": path}) if path else video


def _stem(path: Path) -> str:
    return base_name(path).rpartition(".")[0] if path.is_file() else path.resolve().name


def _files(path: Path) -> list[Path]:
    if path.is_file():
        near = [p for p in sorted(path.parent.iterdir()) if p != path and p.is_file()]
        return [path, *(p for p in near if any(_beside(p, name) for name in BESIDE))]
    if not path.is_dir():
        raise UsageError(
            f"there is no benchmark at {path}", "name a folder or file of questions, or 'demo'"
        )
    found = [
        p for p in sorted(path.rglob("*")) if p.is_file() and base_name(p).endswith(FILE_ENDINGS)
    ]
    return [p for p in found if base_name(p) not in ("benchmark.json", "manifest.json")]


BESIDE = {"native": "videos.", "egoschema": "subset_answers.", "nextgqa": "gsub_"}
"""What belongs to a format's files of questions: how the names of its other files begin."""


def _beside(path: Path, format: str) -> bool:
    name = base_name(path)
    return name.endswith(FILE_ENDINGS) and name.startswith(BESIDE.get(format, "/"))


First = Mapping[Path, Sequence[Fields]]
"""The first rows of each file that can be read."""


def _look(path: Path, files: Sequence[Path]) -> tuple[First, list[BenchmarkFault]]:
    """What a folder's files begin with; one that cannot be read at all is a fault beside others.

    Raises UsageError where a lone file cannot be read, or none of a folder's.
    """
    first: dict[Path, Sequence[Fields]] = {}
    broken: list[UsageError] = []
    faults: list[BenchmarkFault] = []
    for file in files:
        try:
            # One damaged row does not hide what a file is.
            first[file] = [row.fields for row in islice(read_rows(file), 20) if not row.fault]
        except UsageError as error:
            if file == path:
                raise
            broken.append(error)
            faults.append(
                BenchmarkFault(id="", kind="unreadable", message=str(error), dropped=True)
            )
    if broken and not any(first.values()):
        raise broken[0]
    return first, faults


def _format(path: Path, first: First, name: str | None) -> Format:
    """The named one, or the one that the files are in. Raises UsageError for none or several."""
    known = ", ".join(FORMATS)
    if name is not None:
        if name not in FORMATS:
            raise UsageError(f"there is no format named {name}", f"choose one of: {known}")
        return FORMATS[name]
    found: dict[str, Path] = {}
    for file, begin in first.items():
        fits = (f.name for f in FORMATS.values() if any(map(f.detect, begin)))
        if format := next(fits, None):
            found.setdefault(format, file)
        if file == path and found:
            break
    if len(found) > 1:
        said = ", ".join(f"{file.name} is {format}" for format, file in found.items())
        raise UsageError(
            f"{path} holds questions in several formats: {said}",
            "name one with --format, or give one file",
        )
    if found:
        return FORMATS[next(iter(found))]
    raise UsageError(
        f"{path} holds no questions in a known format",
        f"name one with --format ({known}) or bring it into the native one",
    )


def _questions(path: Path, first: First, format: Format) -> list[Path]:
    """The files to read: what else lies in a folder, such as captions, holds no questions.

    JSON Lines of which nothing can be read may have been questions, and are told.
    """
    if path.is_file():
        return [f for f in first if f == path or _beside(f, format.name)]
    torn = [
        f for f, rows in first.items() if not rows and base_name(f).endswith(JSON_LINES_ENDINGS)
    ]
    found = [f for f, rows in first.items() if f in torn or any(map(format.detect, rows))]
    return [f for f in first if f in found or _beside(f, format.name)] if found else list(first)


def _about(folder: Path) -> dict[str, Any]:
    file = folder / "benchmark.json"
    if not file.is_file():
        return {}
    try:
        held = json.loads(file.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise UsageError(
            f"{file} cannot be read: {reason(error)}", "check its permissions"
        ) from None
    except ValueError as error:
        raise UsageError(f"{file} is not JSON: {error}", "mend it, or remove it") from None
    return held if isinstance(held, dict) else {}


def _collect(
    parts: Iterable[LoadedItem], strict: bool
) -> tuple[tuple[Question, ...], tuple[Video, ...], tuple[BenchmarkFault, ...]]:
    """Parts in order; a second one of the same id, and a question that cannot be, is a fault."""
    videos: dict[str, Video] = {}
    questions: dict[str, Question] = {}
    places: dict[str, dict[str, Any]] = {}
    named: dict[str, Video] = {}
    faults: list[BenchmarkFault] = []
    for part in parts:
        if isinstance(part, BenchmarkFault):
            faults.append(part)
            continue
        made = part.made if isinstance(part, ParsedRow) else part
        place = {"file": part.file, "line": part.line} if isinstance(part, ParsedRow) else {}
        held: dict[str, Any] = videos if isinstance(made, Video) else questions
        if made.id in held:
            what = "video" if isinstance(made, Video) else "question"
            said = f"a second {what} has this id; the first is kept"
            faults.append(
                BenchmarkFault(id=made.id, kind="duplicate", message=said, dropped=True, **place)
            )
            continue
        held[made.id] = made
        if isinstance(made, Question):
            places[made.id] = place
            about = (made.recording, *(piece.recording for piece in made.evidence))
            named.update({id: Video(id=id) for id in about if id is not None})
    for id, video in named.items():
        videos.setdefault(id, video)
    kept = []
    for question in questions.values():
        found = question_faults(question, videos) if strict else []
        place = places[question.id]
        faults += [fault.model_copy(update={"dropped": True, **place}) for fault in found]
        if not found:
            kept.append(question)
    return tuple(kept), tuple(videos.values()), tuple(faults)
