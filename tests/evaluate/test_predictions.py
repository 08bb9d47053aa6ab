from __future__ import annotations

from pathlib import Path

from egomem.evaluate.config import Arm
from egomem.evaluate.predictions import file_name, write_predictions


def test_columns_whose_names_a_file_cannot_tell_apart_have_a_file_each(tmp_path: Path) -> None:
    arms = [
        Arm(setting="caption", reader="lab/model:a"),
        Arm(setting="caption", reader="lab_model/a"),
        Arm(setting="caption", reader="LAB_model_a"),
        Arm(setting="video", reader="../../../x"),
        Arm(setting="video", reader="y" * 300),
    ]
    paths = write_predictions(tmp_path, (), arms, {})
    assert len({path.name.casefold() for path in paths}) == len(arms)
    assert all(path.parent == tmp_path / "predictions" and path.is_file() for path in paths)


def test_a_column_is_named_readably() -> None:
    assert file_name(Arm(setting="caption@30", reader="r", captioner="c")) == "caption@30-r-c"
