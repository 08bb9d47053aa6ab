"""Forgetting, killed at every step: nothing is lost, nothing is left.

A child process forgets and is killed (SIGKILL) at its n-th event: an SQL statement, or a file that
is opened, renamed or removed. Events are counted once without a kill, so that every step is hit.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np

import egomem
from egomem.memory import Store
from egomem.memory.replies import ReplyCache
from egomem.memory.thumbnails import keep_thumbnail
from egomem.models import Reply, RequestTags
from egomem.observe import TemplateCaptioner, Window
from egomem.records import Observation, Recording, Status, Track
from egomem.timeline import Span

SECRET = "Valparaiso-8812"
DETECTED = Track(source="object", observer="detector")
READ = Track(source="screen_text", observer="reader")
COMPOSED = TemplateCaptioner(30, [DETECTED, READ])
_FILE_EVENTS = {"open", "os.remove", "os.rename", "os.rmdir", "os.truncate", "os.chmod"}


def build(folder: Path) -> None:
    """A closed memory: ten windows with composed captions; the secret is on two signs."""
    with Store.open(folder, create=True) as store:
        for track in (DETECTED, READ, COMPOSED.track):
            store.put_track(track)
        for id in ("a", "b"):
            recording = Recording(id=id, name=f"{id}.mp4", duration=300)
            store.put_recording(recording)
            for k in range(10):
                span = Span(30.0 * k, 30.0 * k + 20)
                sign = SECRET if k in (2, 7) else f"platform {k}"
                parts = tuple(
                    Observation(recording=id, span=span, text=t, source=r.source, track=r.track)
                    for r, t in ((_of(DETECTED), f"{k + 1} bicycles"), (_of(READ), sign))
                )
                window = Window(recording, Span(30.0 * k, 30.0 * k + 30), (), parts)
                captions = asyncio.run(COMPOSED.observe(window))
                picture = f"{id}{k} {sign}".encode() * 20
                thumbnails = [keep_thumbnail(folder, id, 30.0 * k, picture)]
                store.add([*parts, *captions], thumbnails=thumbnails)
                ids = [o.id for o in captions]
                store.add_vectors("e", id, ids, np.ones((len(ids), 8)))
    with ReplyCache(folder) as cache:
        for key, text in (("x", f"the sign says {SECRET}"), ("y", "a tree")):
            cache.put(Reply(status=Status.PARSED, key=key, text=text, raw=text), {}, RequestTags())


class _Of:
    def __init__(self, track: Track) -> None:
        self.source, self.track = track.source, track.id


def _of(track: Track) -> _Of:
    return _Of(track)


def state(folder: Path) -> list[tuple[str, str]]:
    """Everything remembered, as (track, text)."""
    with egomem.open(folder, create=False) as memory:
        return sorted((o.track, o.text) for o in memory.until().observations())


def forget(folder: Path, on_event: Callable[[str], None]) -> None:
    """Forget the secret, with each event reported; the hook lasts as long as the process."""

    def audit(event: str, arguments: tuple[object, ...]) -> None:
        # Modules that are imported meanwhile are opened, too.
        if event in _FILE_EVENTS and str(folder) in str(arguments[0]):
            on_event(f"{event} {arguments[0]}")

    memory = egomem.open(folder, create=False)
    memory.store.connection.db.set_trace_callback(on_event)
    sys.addaudithook(audit)
    memory.forget(match=SECRET)
    on_event("done")
    memory.close()


def in_child(work: Callable[[], None]) -> int:
    """The wait status of a child process that works."""
    child = os.fork()
    if child == 0:
        try:
            work()
            os._exit(0)
        except BaseException:
            os._exit(1)
    return os.waitpid(child, 0)[1]


def events_of(prepared: Path, folder: Path) -> list[str]:
    """The events of a forgetting that nobody kills."""
    shutil.copytree(prepared, folder)
    log = folder.with_suffix(".events")
    handle = os.open(log, os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)

    def note(event: str) -> None:
        os.write(handle, (" ".join(event.split()) + "\n").encode())

    assert in_child(lambda: forget(folder, note)) == 0
    os.close(handle)
    return log.read_text().splitlines()


def kills(prepared: Path, work: Path, count: int) -> dict[str, int]:
    """Kill a forgetting `count` times, mostly after its deletion began; what held, as counts."""
    events = events_of(prepared, work / "whole")
    before, after = state(prepared), state(work / "whole")
    begins = next(k for k, e in enumerate(events) if e.startswith("DELETE FROM observation"))
    early = max(1, count // 8)
    last = len(events) - 1
    points = [round(k * begins / early) for k in range(early)]
    points += [round(begins + k * (last - begins) / (count - early)) for k in range(count - early)]
    tally: Counter[str] = Counter(kills=0, after_deletion_began=0)
    for trial, point in enumerate(points):
        folder = work / f"kill{trial}"
        shutil.copytree(prepared, folder)
        tally[_killed_at(folder, point, before, after)] += 1
        tally["kills"] += 1
        tally["after_deletion_began"] += point >= begins
        shutil.rmtree(folder)
    return dict(tally)


def _killed_at(
    folder: Path, point: int, before: list[tuple[str, str]], after: list[tuple[str, str]]
) -> str:
    steps_seen = 0

    def kill(_: str) -> None:
        nonlocal steps_seen
        if steps_seen == point:
            os.kill(os.getpid(), signal.SIGKILL)
        steps_seen += 1

    status = in_child(lambda: forget(folder, kill))
    if not os.WIFSIGNALED(status):
        return "not killed"
    remembered = state(folder)  # the next opening finishes what was begun
    if remembered == before:
        with egomem.open(folder, create=False) as memory:
            if not memory.check().ok:
                return "undone, and check finds damage"
            memory.forget(match=SECRET)
            if sorted((o.track, o.text) for o in memory.until().observations()) != after:
                return "undone, and forgotten differently the second time"
        return "undone, then forgotten" if not _traces(folder) else "traces left"
    if remembered != after:
        return "lost or half forgotten"
    with egomem.open(folder, create=False) as memory:
        # A segment that was written and not yet listed goes with the next write.
        findings = [f for f in memory.check().findings if "belongs to nothing" not in f.what]
        if findings or not memory.check(repair=True).ok:
            return "finished, and check finds damage"
    return "traces left" if _traces(folder) else "finished by the next opening"


def _traces(folder: Path) -> bool:
    word = SECRET.lower().encode()
    return any(word in p.read_bytes().lower() for p in folder.rglob("*") if p.is_file())
