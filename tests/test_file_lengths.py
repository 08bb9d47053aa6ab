"""A file of the package holds one idea: none has more than 400 lines."""

from pathlib import Path

import pytest

import egomem

MAX_LINES = 400


def long_files(root: Path) -> dict[str, int]:
    """The Python files under `root` with more than MAX_LINES lines, with their lengths."""
    lengths = {
        path.relative_to(root).as_posix(): len(path.read_text(encoding="utf-8").splitlines())
        for path in root.rglob("*.py")
    }
    return {name: length for name, length in lengths.items() if length > MAX_LINES}


def test_no_file_of_the_package_is_too_long() -> None:
    assert long_files(Path(egomem.__file__).parent) == {}


@pytest.mark.parametrize(("length", "expected"), [(400, {}), (401, {"inner/long.py": 401})])
def test_a_file_is_too_long_from_line_401_on(
    tmp_path: Path, length: int, expected: dict[str, int]
) -> None:
    path = tmp_path / "inner" / "long.py"
    path.parent.mkdir()
    path.write_text("pass\n" * length, encoding="utf-8")
    assert long_files(tmp_path) == expected
