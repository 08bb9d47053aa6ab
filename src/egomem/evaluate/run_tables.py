"""The tables of `run.db`: what stands in which column, and how values become rows.

docs/reference/run-folder.md describes them.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from functools import lru_cache

from egomem.evaluate.config import Arm
from egomem.evaluate.measures import ascii_json, with_measures, without_measures
from egomem.evaluate.stored_run import (
    EarlierMeasures,
    Finished,
    Place,
    StoredRun,
    TrialKey,
    earlier_measures,
    place,
)
from egomem.records import Answer, Usage

VERSION = 1
"""The form of the tables, in `PRAGMA user_version`; 0: nothing was ever committed."""

SCHEMA = (
    # `position` is the order of `answers.jsonl`; replaced answers' measures follow in their own.
    """
    CREATE TABLE answer (
        question TEXT NOT NULL,
        setting TEXT NOT NULL,
        reader TEXT NOT NULL,
        captioner TEXT NOT NULL,
        position INTEGER NOT NULL,
        parts TEXT NOT NULL,             -- JSON: hashes of what the answer depends on
        status TEXT NOT NULL,
        answer TEXT NOT NULL,            -- JSON without measured values
        base TEXT,                       -- JSON: the caption answer that `verify` started from
        version TEXT NOT NULL,
        at TEXT NOT NULL,                -- '' where the measures are lost
        usage TEXT NOT NULL,             -- JSON: what the trial costs by itself
        answer_measures TEXT NOT NULL,   -- JSON: of the answer and of each step of its trace
        base_measures TEXT,
        reply_keys TEXT NOT NULL,        -- JSON: the keys of its requests in replies.db
        PRIMARY KEY (question, setting, reader, captioner)
    ) STRICT
    """,
    """
    CREATE TABLE earlier_measures (      -- of answers that others have replaced
        question TEXT NOT NULL,
        setting TEXT NOT NULL,
        reader TEXT NOT NULL,
        captioner TEXT NOT NULL,
        position INTEGER NOT NULL,
        parts TEXT NOT NULL,
        at TEXT NOT NULL,
        usage TEXT NOT NULL,
        answer_measures TEXT NOT NULL,
        base_measures TEXT,
        reply_keys TEXT NOT NULL,
        PRIMARY KEY (question, setting, reader, captioner, parts)
    ) STRICT
    """,
    """
    CREATE TABLE caption_usage (
        request TEXT PRIMARY KEY,        -- its key in replies.db, or a failed window's name
        usage TEXT NOT NULL
    ) STRICT, WITHOUT ROWID
    """,
)
_TRIAL = "question = ? AND setting = ? AND reader = ? AND captioner = ?"
_MEASURES = "at, usage, answer_measures, base_measures, reply_keys"


def _columns(key: TrialKey) -> tuple[str, str, str, str]:
    question, arm = key
    return question, arm.setting, arm.reader, arm.captioner


def put(db: sqlite3.Connection, cell: Finished, position: int) -> None:
    """Insert an answer at a position, or replace that of the same trial in its place."""
    key, parts = _columns(cell.key), ascii_json(cell.parts)
    db.execute(
        f"""
        INSERT INTO answer (question, setting, reader, captioner, position, parts, status, answer,
            base, version, {_MEASURES}) VALUES ({", ".join("?" * 15)})
        ON CONFLICT DO UPDATE SET parts = excluded.parts, status = excluded.status,
            answer = excluded.answer, base = excluded.base, version = excluded.version,
            at = excluded.at, usage = excluded.usage, answer_measures = excluded.answer_measures,
            base_measures = excluded.base_measures, reply_keys = excluded.reply_keys
        """,
        (
            *key,
            position,
            parts,
            cell.answer.status.value,
            ascii_json(without_measures(cell.answer)),
            ascii_json(without_measures(cell.base)) if cell.base else None,
            cell.version,
            *_measures(earlier_measures(cell)),
        ),
    )
    db.execute(f"DELETE FROM earlier_measures WHERE {_TRIAL} AND parts = ?", (*key, parts))


def _measures(row: EarlierMeasures) -> tuple[str | None, ...]:
    return row.at, row.usage, row.answer, row.base, row.reply_keys


def keep_measures(db: sqlite3.Connection, key: TrialKey) -> None:
    """Keep what was measured of an answer that is about to be replaced."""
    columns = f"question, setting, reader, captioner, position, parts, {_MEASURES}"
    db.execute(
        f"INSERT OR REPLACE INTO earlier_measures ({columns})"
        f" SELECT {columns} FROM answer WHERE {_TRIAL}",
        _columns(key),
    )


def put_run(db: sqlite3.Connection, run: StoredRun, position: int) -> None:
    for n, cell in enumerate(run.cells.values(), position):
        put(db, cell, n)
    db.executemany(
        f"INSERT OR REPLACE INTO earlier_measures (question, setting, reader, captioner, position,"
        f" parts, {_MEASURES}) VALUES ({', '.join('?' * 11)})",
        (
            (*_columns(row.key), n, ascii_json(row.parts), *_measures(row))
            for n, row in enumerate(run.earlier.values(), position + len(run.cells))
        ),
    )
    put_caption_usage(db, run.caption_usage)


def put_caption_usage(db: sqlite3.Connection, by_request: Mapping[str, Usage]) -> None:
    db.executemany(
        "INSERT OR REPLACE INTO caption_usage VALUES (?, ?)",
        ((key, ascii_json(usage.model_dump(mode="json"))) for key, usage in by_request.items()),
    )


def read(db: sqlite3.Connection) -> StoredRun:
    cells = {}
    rows = db.execute(
        "SELECT question, setting, reader, captioner, parts, answer, base, version,"
        f" {_MEASURES} FROM answer ORDER BY position, rowid"
    )
    for question, *arm, parts, answer, base, made_by, at, usage, measures, of_base, _ in rows:
        whole = with_measures(Answer.model_validate_json(answer), json.loads(measures))
        start = None
        if base is not None:
            start = with_measures(Answer.model_validate_json(base), json.loads(of_base or "{}"))
        cell = Finished(
            question=question,
            arm=_arm(*arm),
            parts=json.loads(parts),
            answer=whole,
            base=start,
            usage=Usage.model_validate_json(usage),
            at=at,
            version=made_by,
        )
        cells[cell.key] = cell
    usages = db.execute("SELECT request, usage FROM caption_usage")
    return StoredRun(
        cells=cells,
        earlier=read_earlier(db),
        caption_usage={key: Usage.model_validate_json(usage) for key, usage in usages},
    )


def read_earlier(db: sqlite3.Connection) -> dict[Place, EarlierMeasures]:
    rows = db.execute(
        f"SELECT question, setting, reader, captioner, parts, {_MEASURES} FROM earlier_measures"
        " ORDER BY position, rowid"
    )
    earlier = {}
    for question, *arm, parts, at, usage, answer, base, keys in rows:
        key = question, _arm(*arm)
        row = EarlierMeasures(key, json.loads(parts), at, usage, answer, base, keys)
        earlier[place(row.key, row.parts)] = row
    return earlier


@lru_cache
def _arm(setting: str, reader: str, captioner: str) -> Arm:
    return Arm(setting=setting, reader=reader, captioner=captioner)


def put_in_order(db: sqlite3.Connection, keys: Sequence[TrialKey]) -> None:
    """Order the answers so, and the measures of replaced answers after them, the newest first."""
    db.executemany(
        f"UPDATE answer SET position = ? WHERE {_TRIAL}",
        ((n, *_columns(key)) for n, key in enumerate(keys)),
    )
    # What was replaced since the last call still has its answer's position, which is lower than
    # those of measures that were moved before.
    ids = db.execute("SELECT rowid FROM earlier_measures ORDER BY position, rowid").fetchall()
    db.executemany(
        "UPDATE earlier_measures SET position = ? WHERE rowid = ?",
        ((n, id) for n, (id,) in enumerate(ids, len(keys))),
    )


def next_position(db: sqlite3.Connection) -> int:
    """A position after all others."""
    tables = "SELECT position FROM answer UNION ALL SELECT position FROM earlier_measures"
    (position,) = db.execute(f"SELECT 1 + coalesce(max(position), -1) FROM ({tables})").fetchone()
    return int(position)
