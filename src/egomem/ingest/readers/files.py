"""Files -> rows: JSON Lines, JSON, SRT, WebVTT, WhisperX, EgoLife captions and Parquet."""

from __future__ import annotations

import gzip
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO, cast

from egomem.errors import MediaError, MissingExtraError, TimeError, reason
from egomem.ingest.readers.aria_speech import aria_speech_rows, is_aria_speech
from egomem.ingest.readers.dense_captions import dense_caption_rows, is_dense_captions
from egomem.ingest.readers.options import ImportOptions
from egomem.ingest.readers.rows import Row, SummarisedSkip
from egomem.ingest.readers.subtitles import dropped_line, subtitle_rows
from egomem.ingest.readers.transcripts import language_of, transcript_segments
from egomem.media import LineWarning
from egomem.observe.asr_filter import SegmentFilter, SpeechSegment
from egomem.observe.speech_cuts import cut_at_gaps
from egomem.records import Source
from egomem.timeline import read_time
from egomem.timeline.clock_times import egolife_frame_base, egolife_time

Rows = tuple[Iterator[Row], Source]
"""The rows of a file, and the source of those that name none."""


def file_rows(path: Path, options: ImportOptions, problems: list[LineWarning]) -> Rows:
    """The rows of a file of any format (by its name, else by how it begins), and their source.

    Problems of single rows are added to `problems` while rows are read. Raises MediaError where the
    file cannot be read at all.
    """
    name = path.name.removesuffix(".gz").lower()
    try:
        with _open(path) as file:
            begin = file.read(4096)
    except (OSError, EOFError, gzip.BadGzipFile) as error:
        raise MediaError(
            f"{path} cannot be read: {reason(error)}", "check the path and its permissions"
        ) from None
    if begin.startswith(b"PAR1") or name.endswith(".parquet"):
        return _parquet_rows(path), "caption"
    if name.endswith((".srt", ".vtt")) or begin.lstrip(b"\xef\xbb\xbf").startswith(b"WEBVTT"):
        return subtitle_rows(_text(path, problems), options, problems), "speech"
    if name.endswith((".jsonl", ".ndjson")):
        return _lines(path, problems), "caption"
    if is_aria_speech(begin):
        return aria_speech_rows(_text(path, problems), options.device_start), "speech"
    if not begin.lstrip(b"\xef\xbb\xbf \t\r\n").startswith((b"{", b"[")):
        raise MediaError(
            f"{path.name} is in no known format",
            "known: JSONL, JSON, SRT, WebVTT, WhisperX JSON, EgoLife caption JSON, Aria's "
            "speech.csv, Parquet",
        )
    return _json(path, options, problems)


_TRANSCRIPT = re.compile(r"transcript\.json(\.gz)?$", re.IGNORECASE)


def stem_of(path: Path) -> str:
    """The video that a file without video ids is about: the file's name without suffixes."""
    name = path.name.removesuffix(".gz")
    name = re.sub(r"\.(jsonl|ndjson|json|srt|vtt|csv|parquet)$", "", name, flags=re.IGNORECASE)
    name = re.sub(
        r"[._-](whisper_?transcript|whisperx?|transcript|caption_narrations|captions?)$",
        "",
        name,
        flags=re.IGNORECASE,
    )
    return re.sub(r"\.[a-z]{2,3}(-[A-Za-z]+)?$", "", name)  # walk.en.srt


def _open(path: Path) -> BinaryIO:
    return cast(BinaryIO, gzip.open(path) if path.suffix.lower() == ".gz" else path.open("rb"))


def _text(path: Path, problems: list[LineWarning]) -> str:
    """A whole text file: UTF-8 unless it has another byte-order mark, else Windows-1252."""
    with _open(path) as file:
        content = file.read()
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return content.decode("utf-16", errors="replace")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        problems.append(LineWarning(0, "it is not UTF-8; read as Windows-1252"))
        return content.decode("cp1252", errors="replace")


def _lines(path: Path, problems: list[LineWarning]) -> Iterator[Row]:
    """JSON Lines, row by row."""
    with _open(path) as file:
        for number, line in enumerate(_until_damaged(file, problems), 1):
            line = line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line
            if not line.strip():
                continue
            try:
                value = json.loads(line)
            except (ValueError, RecursionError) as error:
                yield number, f"it is not JSON ({error})"
                continue
            yield number, value if isinstance(value, dict) else "it is not an object"


def _until_damaged(file: BinaryIO, problems: list[LineWarning]) -> Iterator[bytes]:
    try:
        yield from file
    except (EOFError, OSError) as error:
        problems.append(LineWarning(0, f"the file is damaged and ends early: {reason(error)}"))


def _json(path: Path, options: ImportOptions, problems: list[LineWarning]) -> Rows:
    try:
        document = json.loads(_text(path, problems))
    except (ValueError, RecursionError) as error:
        first = next(_lines(path, []), (0, ""))[1]
        if isinstance(first, str):
            raise MediaError(f"{path.name} is not JSON: {error}") from None
        return _lines(path, problems), "caption"
    if isinstance(document, dict) and is_dense_captions(document):
        return dense_caption_rows(document), "caption"
    if isinstance(document, dict) and (segments := transcript_segments(document)) is not None:
        return _whisperx(segments, language_of(document), problems), "speech"
    if isinstance(document, dict):
        lists = [value for value in document.values() if isinstance(value, list)]
        rows = lists[0] if len(lists) == 1 else [document]
        if "video_id" in document:
            rows = [
                {"video_id": document["video_id"], **r} if isinstance(r, dict) else r for r in rows
            ]
    else:
        rows = document
    if rows and isinstance(rows[0], dict) and _is_egolife(rows[0]):
        return _egolife(rows, options, problems), "caption"
    is_speech = bool(rows) and isinstance(rows[0], dict) and "video_id" not in rows[0]
    is_speech = is_speech and ("speaker" in rows[0] or _TRANSCRIPT.search(path.name) is not None)
    return _objects(rows), "speech" if is_speech else "caption"


def _objects(rows: Sequence[object]) -> Iterator[Row]:
    for number, row in enumerate(rows, 1):
        yield number, row if isinstance(row, dict) else "it is not an object"


# -- transcripts -----------------------------------------------------------------------------------


def _whisperx(
    document: Sequence[Any], language: str | None, problems: list[LineWarning]
) -> Iterator[Row]:
    """Segments of a transcript; hallucinated speech is dropped by the speech observer's rules."""
    segments, spoken = [], []
    for number, segment in enumerate(document, 1):
        if not isinstance(segment, dict):
            yield number, "it is not an object"
            continue
        segments.append((number, segment))
        spoken.append(_said(segment))
    believed, dropped = SegmentFilter().sift(spoken)
    problems += [LineWarning(0, dropped_line(n, why)) for why, n in dropped.items()]
    kept = Counter(map(id, believed))
    for (number, segment), one in zip(segments, spoken, strict=True):
        if not kept[id(one)]:
            yield number, SummarisedSkip("not spoken")
            continue
        row = {k: v for k, v in segment.items() if k not in ("id", "seek", "tokens", "chars")}
        row |= {"language": language} if language else {}
        for part in cut_at_gaps(one):
            times = {} if part is one else {"start": part.start, "end": part.end}
            words = [[start, end, word, score] for start, end, word, score in part.words]
            yield number, row | times | {"text": part.text, "words": words or None}


def _said(segment: Mapping[str, Any]) -> SpeechSegment:
    def figure(name: str) -> float:
        value = segment.get(name)
        return float(value) if isinstance(value, int | float) else 0.0

    return SpeechSegment(
        start=figure("start"),
        end=figure("end"),
        text=str(segment.get("text") or "").strip(),
        no_speech_prob=figure("no_speech_prob"),
        avg_logprob=figure("avg_logprob"),
        words=list(_words(segment)),
    )


def _words(segment: Mapping[str, Any]) -> Iterator[tuple[float, float, str, float | None]]:
    """Each aligned word with its times and score, as the speech observer stores them."""
    for word in segment.get("words") or ():
        if isinstance(word, dict) and isinstance(word.get("start"), int | float):
            start, end = word["start"], word.get("end")
            score = word.get("score", word.get("probability"))
            yield start, start if end is None else end, str(word.get("word") or "").strip(), score


# -- EgoLife ---------------------------------------------------------------------------------------


def _is_egolife(row: Mapping[str, Any]) -> bool:
    return (
        isinstance(row.get("date"), str)
        and re.fullmatch(r"\d{8}", str(row.get("start_time"))) is not None
    )


def _egolife(
    rows: Sequence[object], options: ImportOptions, problems: list[LineWarning]
) -> Iterator[Row]:
    """Captions `{start_time, end_time, text, date, video_path}` with times HHMMSSFF.

    A row belongs to its clip, whose start is in its name (DAY1_A1_JAKE_11210217.mp4); without one,
    to its day, whose second 0 is midnight.
    """
    if options.zone is None or options.day_one is None:
        what = "its clips have no clock; give the date of DAY1 and the zone to place them"
        problems.append(LineWarning(0, what))
    if options.conventions.frames_per_second is None:
        base = egolife_frame_base(_egolife_times(rows))
        options = replace(options, conventions=replace(options.conventions, frames_per_second=base))
    for number, row in enumerate(rows, 1):
        if not isinstance(row, dict):
            yield number, "it is not an object"
            continue
        try:
            yield number, _egolife_row(row, options)
        except (TimeError, ValueError, KeyError) as error:
            yield number, f"{type(error).__name__}: {error}"


def _egolife_times(rows: Sequence[object]) -> Iterator[str]:
    for row in rows:
        if isinstance(row, dict):
            yield from (str(row[k]) for k in ("start_time", "end_time") if k in row)


def _egolife_row(row: Mapping[str, Any], options: ImportOptions) -> dict[str, Any]:
    day = str(row["date"])
    start, end = _of_day(str(row["start_time"]), options), _of_day(str(row["end_time"]), options)
    end += 86400 if end < start else 0
    clip = PurePosixPath(str(row.get("video_path") or "").replace("\\", "/")).stem
    match = re.search(r"_(\d{8})$", clip)
    zero = _of_day(match[1], options) if match else 0.0
    if not match or not 0 <= start - zero < 3600:
        clip, zero = day, 0.0
    known_fields = {"start_time", "end_time", "text", "date", "video_path"}
    extra: dict[str, Any] = {k: v for k, v in row.items() if k not in known_fields}
    extra |= {
        "video_id": clip,
        "start": round(start - zero, 6),
        "end": round(end - zero, 6),
        "text": row["text"],
    }
    extra["date"], extra["start_time"] = day, row["start_time"]
    if options.zone is not None and options.day_one is not None:
        when = read_time(
            f"{day} {match[1]}" if match and zero else day,
            zone=options.zone,
            day_one=options.day_one,
            conventions=options.conventions,
        )
        assert when.instants is not None
        extra["recording_start"] = when.instants.start
    return extra


def _of_day(text: str, options: ImportOptions) -> float:
    """Seconds since midnight of a time HHMMSSFF."""
    dial = egolife_time(text, options.conventions.frames_per_second)
    return round(dial.hour * 3600 + dial.minute * 60 + dial.second, 6)


# -- Parquet ---------------------------------------------------------------------------------------


def _parquet_rows(path: Path) -> Iterator[Row]:
    try:
        import pyarrow.parquet as parquet
    except ImportError:
        raise MissingExtraError("pyarrow", "parquet") from None
    try:
        file = parquet.ParquetFile(path)
    except Exception as error:
        raise MediaError(f"{path.name} is not a Parquet file: {reason(error)}") from None
    return _parquet_batches(file)


def _parquet_batches(file: Any) -> Iterator[Row]:
    number = 0
    with file:
        for batch in file.iter_batches(batch_size=4096):
            for row in batch.to_pylist():
                number += 1
                yield number, {k: _plain(v) for k, v in row.items()}


def _plain(value: object) -> Any:
    """A value of a Parquet column as a JSON value."""
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, dict):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, list):
        return [_plain(v) for v in value]
    return value if value is None or isinstance(value, str | int | float) else str(value)
