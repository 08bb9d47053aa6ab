from __future__ import annotations

import sqlite3
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from egomem.errors import LockedError, StoreError, UsageError
from egomem.memory.replies import NAME, ReplyCache, differences, forget
from egomem.models import (
    ImagePart,
    LedgerEntry,
    ModelSpec,
    Reply,
    Request,
    RequestTags,
    Role,
    TextPart,
)
from egomem.records import Status, Usage

SPEC = ModelSpec("vllm", "qwen", "http://127.0.0.1:8000/v1")


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[ReplyCache]:
    with ReplyCache(tmp_path, wait=0.05) as opened:
        yield opened


def kept(
    cache: ReplyCache, text: str, recording: str | None = None, question: str | None = None
) -> Reply:
    request = Request(Role.CAPTIONER, (TextPart(f"asked for {text}"),), "caption@1")
    reply = Reply(status=Status.PARSED, text=text, raw=text, key=request.key(SPEC))
    cache.put(reply, request.key_fields(SPEC), RequestTags(recording, question))
    return reply


def spend(cache: ReplyCache, recording: str, cost: float | None = 0.5) -> None:
    usage = Usage(requests=1, tokens_in=100, tokens_cached=40, tokens_out=7, frames=3, cost=cost)
    cache.record(
        LedgerEntry(
            role=Role.CAPTIONER, model="m", recording=recording, status=Status.PARSED, usage=usage
        )
    )


def on_disk(folder: Path) -> bytes:
    return b"".join(p.read_bytes() for p in folder.iterdir())


def test_a_reply_comes_back_as_it_was(tmp_path: Path) -> None:
    with ReplyCache(tmp_path) as cache:
        first = kept(
            cache,
            "a mug «zwölf» \ud83e\udd64".encode("utf-16", "surrogatepass").decode("utf-16"),
        )
    with ReplyCache(tmp_path) as cache:
        assert cache.get(first.key) == first
        assert cache.get("0" * 64) is None


def test_nothing_is_made_by_looking(tmp_path: Path, cache: ReplyCache) -> None:
    assert cache.get("ab") is None
    assert cache.stats().replies == 0
    assert forget(tmp_path, ["r1"], ["mug"]) == 0
    assert list(tmp_path.iterdir()) == []


def test_no_text_of_a_request_is_stored(tmp_path: Path) -> None:
    cache = ReplyCache(tmp_path)
    image = ImagePart(b"\xff\xd8SECRETPIXELS", 3.0, "[3 s]")
    request = Request(
        Role.READER, (image, TextPart("the transcript of 4417")), "r@1", system="be 4418"
    )
    described = request.key_fields(SPEC)
    reply = Reply(status=Status.PARSED, text="B", raw="B", key=request.key(SPEC))
    cache.put(reply, described, RequestTags())
    cache.close()
    data = on_disk(tmp_path)
    for secret in (b"SECRETPIXELS", b"4417", b"4418"):
        assert secret not in data
    assert image.sha256.encode() in data
    with ReplyCache(tmp_path) as cache:
        assert cache.find(reply.key[:12]).request == described


def test_forgetting_leaves_no_byte(tmp_path: Path, cache: ReplyCache) -> None:
    """With another connection open, and what was deleted still in the write-ahead log."""
    stay = kept(cache, "a green door", "r2")
    for i in range(200):
        kept(cache, f"a violet umbrella {i}", "r1")
    kept(cache, "an umbrella was asked about", None, "q7")
    quoting = kept(cache, 'they said "violet\numbrella" twice', "r2")
    spend(cache, "r1")
    spend(cache, "r2")
    assert b"violet umbrella" in on_disk(tmp_path)
    gone = forget(tmp_path, ["r1"], ['"violet\numbrella"'])
    assert gone == 202
    assert sum(p.stat().st_size for p in tmp_path.iterdir() if p.suffix == ".db") < 40_000
    data = on_disk(tmp_path)
    for trace in (b"violet", b"asked about", b"r1"):
        assert trace not in data
    assert cache.get(stay.key) == stay
    assert cache.get(quoting.key) is None
    assert [e.recording for e in cache.entries()] == ["r2"]


def test_a_reader_that_holds_deleted_bytes_is_said(tmp_path: Path, cache: ReplyCache) -> None:
    kept(cache, "a violet umbrella")
    reader = sqlite3.connect(tmp_path / NAME, isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM replies").fetchall()
    with pytest.raises(LockedError, match="deleted bytes"):
        cache.forget(texts=["violet"])
    reader.close()
    cache.forget(texts=["violet"])
    assert b"violet" not in on_disk(tmp_path)


def test_forgetting_texts_alone_spares_the_rest(tmp_path: Path, cache: ReplyCache) -> None:
    for text in ("a blue van", "a red van"):
        kept(cache, text)
    assert forget(tmp_path, texts=["blue", ""]) == 1
    assert [k.reply.text for k in cache.latest()] == ["a red van"]


def test_the_ledger_adds_up(cache: ReplyCache) -> None:
    spend(cache, "r1")
    spend(cache, "r2", cost=None)
    cache.record(LedgerEntry(role=Role.CAPTIONER, model="m", status=Status.PARSED, cached=True))
    total = cache.stats().spent[Role.CAPTIONER]
    assert (total.asked, total.cached, total.failed, total.unpriced) == (3, 1, 0, 1)
    assert (total.usage.tokens_in, total.usage.tokens_cached, total.usage.frames) == (200, 80, 6)
    assert total.usage.cost == 0.5


def test_explaining_two_keys_names_what_differs(tmp_path: Path) -> None:
    a = Request(Role.READER, (TextPart("q"),), "r@1", temperature=0.0)
    b = Request(Role.READER, (TextPart("q"),), "r@2", temperature=0.7)
    assert differences(a.key_fields(SPEC), b.key_fields(SPEC)) == [
        "prompt",
        "sample",
        "temperature",
    ]


def test_an_unclear_key_is_named(cache: ReplyCache) -> None:
    kept(cache, "one")
    kept(cache, "two")
    with pytest.raises(UsageError, match="more than one"):
        cache.find("")
    with pytest.raises(UsageError, match="no reply"):
        cache.find("zz")


def test_clearing(cache: ReplyCache) -> None:
    kept(cache, "one")
    spend(cache, "r1")
    assert cache.clear() == 1
    assert cache.stats().replies == 0
    assert [e.recording for e in cache.entries()] == ["r1"]  # the money stays spent


def test_a_folder_that_cannot_be_written_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = ReplyCache(tmp_path)
    one = kept(cache, "one")
    cache.close()
    # The permission bits alone do not stop an administrator, so the check is answered for them.
    monkeypatch.setattr("os.access", lambda path, mode: False)
    tmp_path.chmod(stat.S_IRUSR | stat.S_IXUSR)
    closed = ReplyCache(tmp_path)
    assert closed.get(one.key) == one
    kept(closed, "two")
    closed.close()
    tmp_path.chmod(stat.S_IRWXU)
    monkeypatch.undo()
    with ReplyCache(tmp_path) as cache:
        assert cache.stats().replies == 1


def test_a_damaged_file_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / NAME).write_bytes(b"not a database at all" * 100)
    with ReplyCache(tmp_path) as cache, pytest.raises(StoreError, match="move it elsewhere"):
        cache.get("ab")


def test_a_closed_cache_says_so_and_opens_nothing_again(tmp_path: Path) -> None:
    with ReplyCache(tmp_path) as cache:
        kept(cache, "one")
    for use in (cache.stats, cache.clear, lambda: kept(cache, "two")):
        with pytest.raises(UsageError, match="closed"):
            use()


def test_a_paid_reply_survives_a_cache_that_another_program_holds(tmp_path: Path) -> None:
    with ReplyCache(tmp_path, wait=0.05) as cache:
        first = kept(cache, "before")
        other = sqlite3.connect(tmp_path / NAME, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        late = [kept(cache, f"late {i}") for i in range(3)]
        assert [cache.get(reply.key) for reply in late] == late  # nobody pays for it again
        other.execute("COMMIT")
        kept(cache, "after")
    with ReplyCache(tmp_path) as cache:
        assert cache.stats().replies == 5
        assert cache.get(late[1].key) == late[1]
        assert cache.get(first.key) == first
    other.close()


def test_a_reply_that_is_locked_out_to_the_end_is_taken_in_later(tmp_path: Path) -> None:
    with ReplyCache(tmp_path, wait=0.05) as cache:
        kept(cache, "before")
        spend(cache, "r1")
    others = [sqlite3.connect(tmp_path / n, isolation_level=None) for n in (NAME, "spending.db")]
    for other in others:
        other.execute("BEGIN IMMEDIATE")
    with ReplyCache(tmp_path, wait=0.05) as cache:
        late = kept(cache, "a late mug", "r2")
        spend(cache, "r2", cost=0.25)
    assert len(list(tmp_path.glob("*.late.jsonl"))) == 2
    for other in others:
        other.close()
    with ReplyCache(tmp_path) as cache:
        assert cache.get(late.key) == late
        assert [e.recording for e in cache.entries()] == ["r1", "r2"]
        cache.forget(["r2"])
    assert not list(tmp_path.glob("*.late.jsonl"))
    assert b"late mug" not in on_disk(tmp_path)


def test_the_ledger_outlives_the_replies(tmp_path: Path) -> None:
    with ReplyCache(tmp_path) as cache:
        kept(cache, "one")
        spend(cache, "r1", cost=0.75)
    for path in tmp_path.glob(NAME + "*"):
        path.unlink()
    with ReplyCache(tmp_path) as cache:
        assert cache.stats().spent[Role.CAPTIONER].usage.cost == 0.75


def test_a_ledger_of_a_release_before_counts_on(tmp_path: Path) -> None:
    with ReplyCache(tmp_path) as cache:
        kept(cache, "one")
    db = sqlite3.connect(tmp_path / NAME)
    db.execute(
        "CREATE TABLE spent (at, role, model, recording, question, status, cached, requests,"
        " tokens_in, tokens_cached, tokens_out, frames, seconds, cost)"
    )
    row = ("2026", "reader", "m", "r9", None, "parsed", 0, 1, 50, 0, 5, 0, 1.5, 0.125)
    db.execute(f"INSERT INTO spent VALUES ({', '.join('?' * 14)})", row)
    db.commit()
    db.close()
    with ReplyCache(tmp_path) as cache:
        spend(cache, "r1", cost=0.5)
        total = cache.stats().spent
        assert (total[Role.READER].usage.cost, total[Role.CAPTIONER].usage.cost) == (0.125, 0.5)
        cache.forget(["r9"])
        assert [e.recording for e in cache.entries()] == ["r1"]


def test_no_advice_gives_up_what_was_paid_for(tmp_path: Path) -> None:
    (tmp_path / NAME).write_bytes(b"no database" * 500)
    with ReplyCache(tmp_path) as cache:
        for use in (lambda: cache.get("ab"), lambda: kept(cache, "x"), cache.damaged):
            with pytest.raises(StoreError) as caught:
                use()
            assert "delete" not in str(caught.value)
            assert "paid for" in str(caught.value)
