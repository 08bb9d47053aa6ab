import pytest

from egomem.config import Settings
from egomem.errors import ConfigError
from egomem.models import ModelClient, Role


def test_settings_reach_the_models() -> None:
    settings = Settings(
        model={"reader": "openai-compatible:x@http://127.0.0.1:1/v1"},
        limits={"reader": {"images": 128}},
        fit=True,
        deadline=7,
        concurrency=3,
    )
    models = ModelClient.from_settings(settings)
    assert models.has(Role.READER)
    assert not models.has(Role.CAPTIONER)
    assert models.limits(Role.READER).images == 128
    assert models.limits(Role.CAPTIONER).fit
    assert (models.policy.deadline, models.policy.concurrency) == (7, 3)


@pytest.mark.parametrize(
    ("limits", "message"),
    [({"raeder": {"images": 1}}, "limits.raeder"), ({"reader": {"images": -1}}, "reader.images")],
)
def test_an_impossible_limit_is_named(limits: dict[str, dict[str, float]], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        ModelClient.from_settings(Settings(limits=limits))
