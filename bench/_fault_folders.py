"""Memories whose files were damaged in every way, and the word that `check` has to say of each."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

import numpy as np

from egomem.errors import EgomemError
from egomem.memory import Completed, Store, index
from egomem.memory.check import check
from egomem.memory.checksums import SEAL
from egomem.memory.replies import ReplyCache
from egomem.memory.thumbnails import keep_thumbnail
from egomem.models import Reply, RequestTags
from egomem.records import Observation, Provenance, Recording, Status
from egomem.timeline import Span

QUERIES = ("red kettle", "letter 7", "summary")
CONTENT = ("recording", "track", "observation", "rests_on", "done", "tally", "segment", "vectors")
CONTENT += ("embedder", "picture", "receipt", "state")


def build(folder: Path, word: str) -> None:
    """A closed memory of two recordings, with everything that a memory's folder can hold."""
    with Store.open(folder, create=True) as store, mock.patch.object(index, "_RATIO", 0):
        for id in ("street", "kitchen"):
            store.put_recording(Recording(id=id, name=f"{id}.mp4", duration=900))
            captions = [
                _caption(id, k + len(word), f"{word} kettle and letter {k} of {id}")
                for k in range(60)
            ]
            on = Provenance(rests_on=(captions[0].id, captions[1].id))
            captions.append(_caption(id, 80, f"summary of {word}", on))
            thumbnails = [keep_thumbnail(folder, id, 10.0 * k, os.urandom(900)) for k in range(3)]
            done = [Completed(id, "caption/bench", f"{k}-{k + 1}") for k in range(60)]
            store.add(captions, completed=done, thumbnails=thumbnails)
            store.flush()
            vectors = np.random.default_rng(len(id + word)).normal(size=(len(captions), 24))
            store.add_vectors("bench", id, [o.id for o in captions], vectors)
    with ReplyCache(folder) as cache:
        for key in ("one", "two"):
            reply = Reply(status=Status.PARSED, key=key, text=f"a {word} {key}", raw=key)
            cache.put(reply, {"prompt": key}, RequestTags(recording="street"))


def _caption(id: str, at: float, text: str, provenance: Provenance | None = None) -> Observation:
    return Observation(
        recording=id,
        span=Span(at, at + 1),
        text=text,
        source="caption",
        track="caption/bench",
        provenance=provenance or Provenance(),
    )


@dataclass(frozen=True)
class Damage:
    """One way to damage a file of a folder: `word` is what `check` has to say ("": sound)."""

    file: str
    kind: str
    word: str
    do: Callable[[Path], object]


def damages(sound: Path, other: Path, flips: int, seed: int) -> Iterator[Damage]:
    """Every file of a sound memory in every way; `other` is another sound memory."""
    places = random.Random(seed)
    files = sorted(p.relative_to(sound) for p in sound.rglob("*") if p.is_file())
    for name in files:
        text = name.as_posix()
        content = (sound / name).read_bytes()
        word = _word(text)
        harmless = text == "writer.lock"
        for k in range(0 if harmless else flips):
            at, bit = places.randrange(len(content)), 1 << places.randrange(8)
            changed = bytearray(content)
            changed[at] ^= bit
            if text == "replies.db" and _same_replies(changed, content):
                continue
            yield Damage(text, f"flip {k}", word, _write(name, bytes(changed)))
        for kind, changed_bytes in (
            ("half", content[: len(content) // 2]),
            ("one byte short", content[:-1]),
            ("empty", b""),
            ("zero bytes", bytes(len(content))),
            ("noise", places.randbytes(len(content))),
        ):
            short = text == SEAL and not changed_bytes.strip(b"\0")
            yield Damage(
                text,
                kind,
                "" if harmless else word if not short else "memory.db",
                _write(name, changed_bytes),
            )
        gone = "" if harmless or text in (SEAL, "replies.db") else word
        yield Damage(text, "missing", gone, _remove(name))
        twins = [f for f in files if f.suffix == name.suffix and f != name and f.parent.parts]
        if len(name.parts) > 1 and twins:
            yield Damage(text, "swapped", word, _swap(name, twins[0]))
        if (other / name).is_file() and not harmless:
            foreign = (other / name).read_bytes()
            # Replies answer whoever asks for their key: those of another memory are replies, too.
            foreign_word = "" if text == "replies.db" else word
            yield Damage(text, "of another memory", foreign_word, _write(name, foreign))
        yield Damage(text, "litter beside it", "", _write(name.with_name(f"._{name.name}"), b"x"))
        yield Damage(
            text, "a folder beside it", "", _write(name.parent / "album" / name.name, b"x")
        )
    for folder, stray in (
        ("index", "000099.seg"),
        ("vectors/1", "7-1.f32"),
        ("thumbnails/street", "55.000.part"),
        ("thumbnails/street", "55.000.jpg"),
        ("thumbnails/nobody", "0.000.jpg"),
    ):
        yield Damage(f"{folder}/{stray}", "left over", "", _write(Path(folder) / stray, b"left"))


def _word(file: str) -> str:
    """The name of the damaged part, which the finding has to hold."""
    if file == SEAL:
        return "memory.db"
    return str(Path(file).with_suffix("")) if file.startswith("vectors") else file


def _write(name: Path, content: bytes) -> Callable[[Path], object]:
    def do(folder: Path) -> None:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)

    return do


def _remove(name: Path) -> Callable[[Path], object]:
    return lambda folder: (folder / name).unlink()


def _swap(one: Path, other: Path) -> Callable[[Path], object]:
    def do(folder: Path) -> None:
        content = (folder / one).read_bytes()
        (folder / one).write_bytes((folder / other).read_bytes())
        (folder / other).write_bytes(content)

    return do


def _same_replies(changed: bytes, original: bytes) -> bool:
    """Whether a flip in replies.db changes nothing that is stored: it has no seal of its own."""
    rows = []
    for content in (original, bytes(changed)):
        with closing(sqlite3.connect(":memory:")) as db:
            try:
                db.deserialize(content)
                rows.append(db.execute("SELECT * FROM replies ORDER BY key").fetchall())
                rows.append(db.execute("PRAGMA integrity_check").fetchall())
            except sqlite3.Error as error:
                rows.append([(str(error),)])
    return rows[: len(rows) // 2] == rows[len(rows) // 2 :]


@dataclass(frozen=True)
class Outcome:
    """What came of a damage: `held` if check said the word and nothing else went wrong."""

    file: str
    kind: str
    word: str
    said: str
    fault: str

    @property
    def held(self) -> bool:
        return not self.fault


def try_damage(sound: Path, folder: Path, damage: Damage) -> Outcome:
    """Damage a copy, and see what check says, and what a repair leaves."""
    shutil.copytree(sound, folder)
    expected = results(sound)
    damage.do(folder)
    before = _foreign_files(folder)
    try:
        words, fault = _checked(folder, damage, expected)
    except EgomemError as error:
        words = str(error)
        fault = "" if damage.word and error.remedy and _known(damage.word, words) else words
    except Exception as error:  # no damage may end in anything but a line with a remedy
        words, fault = "", f"{type(error).__name__}: {error}"
    if before - _foreign_files(folder):
        fault = fault or "a file of somebody else is gone"
    shutil.rmtree(folder)
    return Outcome(damage.file, damage.kind, damage.word, words[:200], fault[:200])


def _checked(folder: Path, damage: Damage, expected: object) -> tuple[str, str]:
    with Store.open(folder) as store:
        report = check(store)
    words = "; ".join(finding.what for finding in report.findings)
    if damage.word and not _known(damage.word, words):
        return words, f"check does not name {damage.word}: {words or 'sound'}"
    if not damage.word and damage.kind != "left over" and not report.ok:
        return words, f"a sound memory is called damaged: {words}"
    with Store.open(folder) as store:
        repaired = check(store, repair=True)
    in_record = any(finding.part == "record" for finding in report.findings)
    if repaired.ok == in_record and damage.file != SEAL:
        return words, "repaired, though the record is damaged" if in_record else "not repaired"
    if not in_record and results(folder) != expected:
        return words, "a search finds something else after the repair"
    return words, ""


def _known(word: str, words: str) -> bool:
    return word in words


def _foreign_files(folder: Path) -> set[Path]:
    return {p for p in folder.rglob("*") if p.name.startswith("._") or p.parent.name == "album"}


def results(folder: Path) -> list[list[tuple[str, float]]]:
    """What searches of a memory find, by words."""
    with Store.open(folder) as store:
        view = store.view()
        return [[(h.observation.id, h.score) for h in view.search(q, 20)] for q in QUERIES]


def unsealed_flips(sound: Path, folder: Path, count: int, seed: int) -> dict[str, int]:
    """Flips in memory.db without its seal, as after a write: is a change called sound?"""
    places = random.Random(seed)
    content = (sound / "memory.db").read_bytes()
    tally = {"noticed": 0, "nothing changed": 0, "changed and unseen": 0}
    expected = _contents(sound)
    for _ in range(count):
        shutil.copytree(sound, folder)
        (folder / SEAL).unlink(missing_ok=True)
        changed = bytearray(content)
        changed[places.randrange(len(content))] ^= 1 << places.randrange(8)
        (folder / "memory.db").write_bytes(changed)
        try:
            with Store.open(folder) as store:
                noticed = not check(store).ok
        except EgomemError:
            noticed = True
        if noticed:
            tally["noticed"] += 1
        else:
            same = _contents(folder) == expected
            tally["nothing changed" if same else "changed and unseen"] += 1
        shutil.rmtree(folder)
    return tally


def _contents(folder: Path) -> list[list[tuple[object, ...]]]:
    with closing(sqlite3.connect(folder / "memory.db")) as db:
        return [db.execute(f"SELECT * FROM {table} ORDER BY 1, 2").fetchall() for table in CONTENT]
