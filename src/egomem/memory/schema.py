"""The tables of `memory.db`, as numbered migrations.

A migration is never edited once released: a change is a new one at the end. `PRAGMA user_version`
is the number of those that have run. docs/reference/memory-folder.md describes the tables.
"""

from __future__ import annotations

import sqlite3

from egomem.errors import StoreError
from egomem.memory.checksums import (
    OBSERVATION_CHECKED,
    RECORDING_CHECKED,
    TRACK_CHECKED,
)

MIGRATIONS = (
    """
    CREATE TABLE recording (
        number INTEGER PRIMARY KEY,
        id TEXT UNIQUE,  -- NULL: the wearer's own timeline, whose second 0 is 1970-01-01T00:00Z
        wearer TEXT NOT NULL,
        name TEXT NOT NULL,
        path TEXT,
        sha256 TEXT,
        duration REAL NOT NULL,
        clock TEXT,
        zone TEXT,
        clock_source TEXT,
        facts TEXT NOT NULL DEFAULT '{}'
    ) STRICT;
    CREATE TABLE track (
        number INTEGER PRIMARY KEY,
        id TEXT NOT NULL,
        source TEXT NOT NULL,
        observer TEXT,
        model TEXT,
        prompt TEXT,
        window REAL,
        sampling TEXT,
        UNIQUE (id, source)
    ) STRICT;
    CREATE TABLE observation (
        n INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        recording INTEGER NOT NULL REFERENCES recording(number),
        wearer TEXT NOT NULL,
        track INTEGER NOT NULL REFERENCES track(number),
        start REAL NOT NULL,
        end REAL NOT NULL,
        text TEXT NOT NULL,
        data TEXT NOT NULL DEFAULT '{}',
        provenance TEXT NOT NULL DEFAULT '{}',
        terms TEXT NOT NULL,
        length INTEGER NOT NULL
    ) STRICT;
    -- Covers what is counted of a part of a recording, so that no text is read for it.
    CREATE INDEX observation_time ON observation(recording, end, start, track, length);
    CREATE TABLE rests_on (
        basis TEXT NOT NULL,
        n INTEGER NOT NULL REFERENCES observation(n) ON DELETE CASCADE,
        PRIMARY KEY (basis, n)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX rests_on_n ON rests_on(n);
    CREATE TABLE done (
        recording TEXT NOT NULL,
        track TEXT NOT NULL,
        unit TEXT NOT NULL,
        PRIMARY KEY (recording, track, unit)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE tally (
        recording INTEGER NOT NULL,
        track INTEGER NOT NULL,
        count INTEGER NOT NULL,
        length INTEGER NOT NULL,
        start REAL NOT NULL,
        end REAL NOT NULL,
        PRIMARY KEY (recording, track)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE state (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;
    INSERT INTO state VALUES
        ('forgetting', 0), ('forgotten', 0), ('index', 0), ('recordings', 0), ('vectors', 0);
    CREATE TABLE segment (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        first INTEGER NOT NULL,
        last INTEGER NOT NULL,
        count INTEGER NOT NULL,
        checksum INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE embedder (
        number INTEGER PRIMARY KEY,
        name TEXT NOT NULL UNIQUE,
        dimension INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE vectors (
        embedder INTEGER NOT NULL REFERENCES embedder(number),
        recording INTEGER NOT NULL REFERENCES recording(number),
        rows INTEGER NOT NULL,
        edition INTEGER NOT NULL DEFAULT 1,
        PRIMARY KEY (embedder, recording)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE receipt (
        number INTEGER PRIMARY KEY,
        at TEXT NOT NULL,
        kind TEXT NOT NULL,
        counts TEXT NOT NULL
    ) STRICT;
    """,
    # Ids are random. Where they have to be unique in their recording only, those of a recording lie
    # together in the index, so that adding changes as few pages of a large memory as of a small
    # one. An id on its own is looked up in the segments, which are made anew for it.
    """
    CREATE TABLE observation_2 (
        n INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL,
        recording INTEGER NOT NULL REFERENCES recording(number),
        wearer TEXT NOT NULL,
        track INTEGER NOT NULL REFERENCES track(number),
        start REAL NOT NULL,
        end REAL NOT NULL,
        text TEXT NOT NULL,
        data TEXT NOT NULL DEFAULT '{}',
        provenance TEXT NOT NULL DEFAULT '{}',
        terms TEXT NOT NULL,
        length INTEGER NOT NULL,
        UNIQUE (recording, id)
    ) STRICT;
    INSERT INTO observation_2 SELECT * FROM observation;
    DELETE FROM sqlite_sequence WHERE name = 'observation_2';
    INSERT INTO sqlite_sequence SELECT 'observation_2', seq FROM sqlite_sequence
        WHERE name = 'observation';
    CREATE TABLE rests_on_2 AS SELECT n, basis FROM rests_on;
    DROP TABLE rests_on;
    DROP TABLE observation;
    ALTER TABLE observation_2 RENAME TO observation;
    CREATE INDEX observation_time ON observation(recording, end, start, track, length);
    CREATE TABLE rests_on (
        n INTEGER NOT NULL REFERENCES observation(n) ON DELETE CASCADE,
        basis TEXT NOT NULL,
        PRIMARY KEY (n, basis)
    ) STRICT, WITHOUT ROWID;
    INSERT INTO rests_on SELECT n, basis FROM rests_on_2;
    DROP TABLE rests_on_2;
    DELETE FROM segment;
    UPDATE state SET value = value + 1 WHERE name = 'index';
    """,
    # `pending`: what a forgetting that is under way has still to remove outside of this file.
    # `unlisted`: vectors and pictures of before lack a checksum until the next opening.
    f"""
    ALTER TABLE observation ADD COLUMN checksum INTEGER;
    ALTER TABLE recording ADD COLUMN checksum INTEGER;
    ALTER TABLE track ADD COLUMN checksum INTEGER;
    UPDATE observation SET checksum = row_checksum({OBSERVATION_CHECKED});
    UPDATE recording SET checksum = row_checksum({RECORDING_CHECKED});
    UPDATE track SET checksum = row_checksum({TRACK_CHECKED});
    ALTER TABLE vectors ADD COLUMN checksum INTEGER;
    ALTER TABLE vectors ADD COLUMN row_checksum INTEGER;
    CREATE TABLE picture (
        recording INTEGER NOT NULL REFERENCES recording(number),
        start REAL NOT NULL,
        checksum INTEGER NOT NULL,
        PRIMARY KEY (recording, start)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE pending (kind TEXT NOT NULL, value TEXT NOT NULL) STRICT;
    INSERT INTO state VALUES ('unlisted', 1);
    """,
)


LATEST = len(MIGRATIONS)


def migrate(db: sqlite3.Connection, *, may_write: bool = True) -> None:
    """Bring a database to the newest form. Raises StoreError where a newer egomem wrote it."""
    (version,) = db.execute("PRAGMA user_version").fetchone()
    if version > LATEST:
        raise StoreError(
            f"this memory was written by a newer egomem (form {version}, known: {LATEST})",
            "run: pip install --upgrade egomem",
        )
    if version < LATEST and not may_write:
        raise StoreError(
            "this memory has an older form and its folder is read-only",
            "make the folder writable once, so that it can be brought up to date",
        )
    if version < LATEST:
        script = "".join(MIGRATIONS[version:])
        if version == 0:  # a new memory has nothing of before
            script += "UPDATE state SET value = 0 WHERE name = 'unlisted';"
        db.executescript(f"BEGIN IMMEDIATE;{script}PRAGMA user_version = {LATEST};COMMIT;")
