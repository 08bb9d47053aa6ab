from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from egomem.errors import StoreError
from egomem.paths import entries, file_name, folder_name, inside

HOSTILE = [
    "/etc",
    "..",
    ".",
    "",
    "../../out",
    "a/b",
    "a\\b",
    "C:\\x",
    "NUL",
    "con",
    "x" * 300,
    "é\n",
]


@pytest.mark.parametrize("id", HOSTILE)
def test_an_id_names_a_folder_and_never_a_path(id: str, tmp_path: Path) -> None:
    folder = tmp_path / folder_name(id)
    assert folder.parent == tmp_path
    assert inside(tmp_path, folder) == folder
    folder.mkdir()
    assert [entry.name for entry in entries(tmp_path)] == [folder_name(id)]


def test_plain_ids_keep_their_name() -> None:
    assert folder_name("0f1e2d3c4b5a6978") == "0f1e2d3c4b5a6978"


@given(st.text(max_size=30), st.text(max_size=30))
def test_two_ids_never_share_a_folder(one: str, other: str) -> None:
    if one != other:
        assert folder_name(one).casefold() != folder_name(other).casefold()
    assert folder_name(folder_name(one)) == folder_name(one) or "." in folder_name(one)


@pytest.mark.parametrize("text", [*HOSTILE, "a\x1b[2Jb", "report\u202egnp.exe", "ü" * 200])
def test_any_text_makes_a_file_name(text: str, tmp_path: Path) -> None:
    name = file_name(text, "recording")
    (tmp_path / f"{name}.srt").write_text("x")
    assert [path.name for path in tmp_path.iterdir()] == [f"{name}.srt"]
    assert name.isprintable()


def test_a_path_that_a_link_leads_out_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "memory").mkdir()
    link = tmp_path / "memory" / "thumbnails"
    link.symlink_to(tmp_path / "outside")
    with pytest.raises(StoreError, match="leads out of"):
        inside(tmp_path / "memory", link / "a")
    with pytest.raises(StoreError, match="leads out of"):
        inside(tmp_path / "memory", tmp_path / "memory" / ".." / "outside")
    assert list(entries(link)) == []
