from pathlib import Path

import pytest

from egomem.config import EVERY_ROLE, Settings, load_settings
from egomem.errors import ConfigError


@pytest.fixture(autouse=True)
def _empty_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    for name in ("MEMORY", "WINDOW", "WEARER", "MODEL", "MODEL_READER", "MODEL_CAPTIONER"):
        monkeypatch.delenv(f"EGOMEM_{name}", raising=False)


def test_flags_over_variables_over_file_over_defaults(monkeypatch: pytest.MonkeyPatch) -> None:
    assert load_settings().window == 30
    Path("egomem.toml").write_text("window = 45\nwearer = 'ada'")
    assert (load_settings().window, load_settings().wearer) == (45, "ada")
    monkeypatch.setenv("EGOMEM_WINDOW", "60")
    assert load_settings().window == 60
    assert load_settings(window=10.0).window == 10
    assert load_settings(window=None).window == 60


def test_roles_merge_across_sources(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("egomem.toml").write_text("[model]\nreader = 'file:r'\ncaptioner = 'file:c'")
    monkeypatch.setenv("EGOMEM_MODEL_READER", "env:r")
    assert load_settings().model == {"reader": "env:r", "captioner": "file:c"}
    assert load_settings(model={"captioner": "flag:c"}).model == {
        "reader": "env:r",
        "captioner": "flag:c",
    }


def test_one_spec_fills_every_role_and_is_over_roles_set_below(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("EGOMEM_MODEL", "env:all")
    monkeypatch.setenv("EGOMEM_MODEL_READER", "env:r")
    assert load_settings().model == {EVERY_ROLE: "env:all", "reader": "env:r"}
    assert load_settings(model={EVERY_ROLE: "flag:all"}).model == {EVERY_ROLE: "flag:all"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("wndow = 3", "'wndow' in egomem.toml"),
        ("window = 0", "'window' in egomem.toml"),
        ("window", "not valid TOML"),
    ],
)
def test_a_bad_file_is_named(text: str, message: str) -> None:
    Path("egomem.toml").write_text(text)
    with pytest.raises(ConfigError, match=message):
        load_settings()


def test_limits_are_set_by_file_and_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("egomem.toml").write_text("[limits.reader]\nimages = 8\nside = 512")
    monkeypatch.setenv("EGOMEM_LIMITS_READER_IMAGES", "128")
    assert load_settings().limits == {"reader": {"images": 128, "side": 512}}


def test_a_bad_variable_and_a_bad_flag_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EGOMEM_WINDOW", "long")
    with pytest.raises(ConfigError, match="'window' in EGOMEM_WINDOW"):
        load_settings()
    with pytest.raises(ConfigError, match="on the command line"):
        load_settings(window=-1.0)


def test_the_home_folder_is_expanded() -> None:
    assert Settings(memory=Path("~/x")).memory == Path.home() / "x"
