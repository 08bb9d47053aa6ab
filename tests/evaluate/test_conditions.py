"""Settings by name, configurations, and what does not go together."""

from __future__ import annotations

from typing import Any

import pytest

from egomem.errors import ConfigError, UsageError
from egomem.evaluate import Config, Shard, read_condition, read_conditions
from egomem.evaluate.options import frame_limits, make_config, models_given, read_shard

A, B = "openai-compatible:a@http://h/v1", "openai-compatible:b@http://h/v1"


def test_a_setting_says_who_answers_and_what_is_read() -> None:
    facts = {
        w.name: (w.strategy, w.captions, w.window)
        for w in read_conditions(
            [
                "clean",
                "video",
                "caption@30",
                "verify@60",
                "aligned@30",
                "caption@evidence",
                "video@evidence",
                "extractive",
                "extractive@evidence",
            ]
        )
    }
    assert facts == {
        "clean": ("clean", "none", None),
        "video": ("video", "none", None),
        "caption@30": ("caption", "windows", 30.0),
        "verify@60": ("verify", "windows", 60.0),
        "aligned@30": ("caption", "aligned", 30.0),
        "caption@evidence": ("evidence-captions", "windows", 30.0),
        "video@evidence": ("evidence-frames", "none", None),
        "extractive": ("extractive", "held", None),
        "extractive@evidence": ("extractive", "held", None),
    }


def test_captions_of_the_evidence_are_those_of_the_window_beside_them() -> None:
    facts = {w.name: w.window for w in read_conditions(["caption@60", "caption@evidence"])}
    assert facts["caption@evidence"] == 60.0
    named = ["caption@60", "caption@30@evidence", "aligned@45@evidence", "caption@evidence"]
    facts = {w.name: (w.strategy, w.captions, w.window) for w in read_conditions(named)}
    assert facts["caption@30@evidence"] == ("evidence-captions", "windows", 30.0)
    assert facts["aligned@45@evidence"] == ("evidence-captions", "aligned", 45.0)
    assert facts["caption@evidence"] == ("evidence-captions", "windows", 60.0)
    (_, evidence) = read_conditions(["caption", "caption@evidence"])
    assert (evidence.captions, evidence.window) == ("held", None)


@pytest.mark.parametrize(
    "name",
    ["caption@", "caption@-3", "caption@nan", "verify@inf", "aligned", "clean@30", "video@30",
     "nothing", "clean@evidence", "verify@evidence", "aligned@evidence",
     "verify@30@evidence", "verify@whole", "aligned@whole", "video@whole",
     "caption@whole@evidence", "caption@x@evidence", "video@30@evidence", "caption@30@30"],
)  # fmt: skip
def test_a_setting_that_is_none_is_refused(name: str) -> None:
    with pytest.raises(UsageError):
        read_condition(name)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"settings": ("clean",)}, "no reader"),
        ({"settings": ("caption",), "readers": (A,)}, "reads a memory"),
        ({"settings": ("caption@30",), "readers": (A,), "captioners": (A, B)}, "--cross"),
        ({"settings": ("clean",), "readers": (A,), "captioners": (A,), "cross": True}, "--cross"),
        ({"settings": ("clean",), "readers": (A,), "shard": Shard(index=3, count=2)}, "no shard"),
        ({"settings": ("clean",), "readers": (A,), "shard": Shard(index=1, count=2)}, "gate"),
        (
            {"settings": ("caption@whole",), "readers": (A,), "given_memory": True},
            "the captions of caption@whole are made by a captioner",
        ),
        (
            {"settings": ("aligned@30",), "readers": (A,), "given_memory": True},
            "made by a captioner",
        ),
    ],
)
def test_what_does_not_go_together_is_refused(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Config(**fields).checked()
    assert message in str(caught.value)


def test_columns_pair_each_reader_with_its_own_captions() -> None:
    columns = Config(settings=("clean", "caption@30"), readers=(A, B)).arms()
    assert [(c.setting, c.reader, c.captioner) for c in columns] == [
        ("clean", A, ""),
        ("clean", B, ""),
        ("caption@30", A, A),
        ("caption@30", B, B),
    ]


def test_crossed_columns_pair_all_with_all() -> None:
    config = Config(settings=("caption@30",), readers=(A, B), captioners=(B, A), cross=True)
    assert [(c.reader, c.captioner) for c in config.arms()] == [(A, B), (A, A), (B, B), (B, A)]


def test_the_shards_of_a_run_share_its_hash_and_nothing_else_does() -> None:
    config = Config(settings=("clean",), readers=(A,))
    assert config.model_copy(update={"shard": Shard(index=1, count=2)}).hash == config.hash
    for change in ({"frames": 32}, {"limit": 3}, {"format": "scores"}, {"readers": (B,)}):
        assert config.model_copy(update=change).hash != config.hash


def test_options_of_the_command_line_are_read() -> None:
    assert models_given({"all": "ollama:x, ollama:y"}) == {"reader": ("ollama:x", "ollama:y")}
    assert frame_limits(["ollama:qwen3-vl:8b=64"]) == {"ollama:qwen3-vl:8b": 64}
    assert str(read_shard("2/4")) == "2/4"
    for wrong in ("2", "0/4", "a/b", "1/"):
        with pytest.raises(UsageError):
            read_shard(wrong)
    for wrong in ("ollama:x", "ollama:x=0", "ollama:x=many"):
        with pytest.raises(UsageError):
            frame_limits([wrong])
    with pytest.raises(ConfigError, match="no role"):
        models_given({"planner": "ollama:x"})
    with pytest.raises(ConfigError, match="--reply essay is none that there is"):
        make_config(settings=("clean",), format="essay")


def test_the_protocol_is_what_an_empty_configuration_does() -> None:
    """CapMem: 768 frames, one a second, a letter, no way out, 15 to 35 % at the gate; and evidence,
    which is ours."""
    config = Config(settings=("video",), readers=(A,))
    (column,) = config.arms()
    assert config.strategy_settings(column, None) == {
        "video": {
            "format": "letter", "abstain": False, "cite": True, "max_tokens": 2048,
            "frames": 768, "fps": 1.0,
        }
    }  # fmt: skip
    assert (config.gate, config.gate_low, config.gate_high) == ("stop", 0.15, 0.35)


def test_citing_is_part_of_what_a_run_is_and_its_default_keeps_older_hashes() -> None:
    """The hashes of a version that had no such setting."""
    config = Config(settings=("caption@30",), readers=("ollama:x",))
    (arm,) = config.arms()
    assert (config.hash, config.strategy_hash(arm, "t")) == ("4a7f3322a64d41c1", "a899c02ab5b68917")
    silent = config.model_copy(update={"cite": False})
    assert silent.hash != config.hash
    assert silent.strategy_hash(arm, "t") != config.strategy_hash(arm, "t")
    assert Config.model_validate(silent.model_dump(mode="json")) == silent
