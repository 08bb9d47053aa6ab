"""The registry that every kind of plug-in shares."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import pytest

from egomem import plugins
from egomem.errors import ConfigError, UsageError
from egomem.plugins import Origin, Registry


@dataclass(frozen=True)
class Tool:
    summary: str = "Does it."


GROUP = "egomem.tools"


@pytest.fixture
def registry() -> Registry[Tool]:
    return Registry(GROUP, "tool", Tool, {"own": f"{__name__}:OWN"})


OWN = Tool("Ours.")


PLAIN = "from tests_tool import Tool\n"


@pytest.fixture(autouse=True)
def _tool(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the packages import from here."""
    monkeypatch.setitem(sys.modules, "tests_tool", sys.modules[__name__])
    monkeypatch.setitem(sys.modules, __name__, sys.modules[__name__])


def test_a_builtin_is_had_without_a_search_of_installed_packages(
    registry: Registry[Tool], monkeypatch: pytest.MonkeyPatch
) -> None:
    def searched(**_: object) -> None:
        raise AssertionError("installed packages were searched")

    monkeypatch.setattr(plugins, "entry_points", searched)
    assert registry.get("own") is OWN
    assert registry.origin("own") == Origin("egomem", version("egomem"))


def test_an_object_and_a_module_that_registers_are_both_found(
    registry: Registry[Tool], install: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    install("tool_a", f"{PLAIN}TOOL = Tool('A.')\n", GROUP, "zed = tool_a:TOOL", "2.3")
    register = f"{PLAIN}import tests_tool\n"
    for name in ("first", "second"):
        register += f"tests_tool.REGISTRY.add('{name}', Tool('{name}'), __name__)\n"
    install("tool_b", register, GROUP, "first = tool_b")
    monkeypatch.setattr(sys.modules[__name__], "REGISTRY", registry, raising=False)
    assert registry.names() == ["own", "first", "zed"]
    plugins = registry.all()
    assert [plugins[n].summary for n in ("own", "first", "zed")] == ["Ours.", "first", "A."]
    assert registry.names() == ["own", "first", "second", "zed"], "one import may register several"
    assert [str(registry.origin(n)) for n in ("zed", "first", "second")] == [
        "tool_a 2.3",
        "tool_b 1.0",
        "tool_b 1.0",
    ]


def test_a_plug_in_of_this_process_alone_says_its_module(registry: Registry[Tool]) -> None:
    registry.add("here", Tool(), "notebook")
    assert registry.origin("here") == Origin("notebook", "")
    assert registry.get("here") == Tool()


def test_an_unknown_name_is_told_what_there_is(registry: Registry[Tool]) -> None:
    with pytest.raises(UsageError, match="there is no tool named saw; choose one of: own"):
        registry.get("saw")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("raise RuntimeError('no luck')\n", "cannot be loaded from tool_c: RuntimeError: no luck"),
        ("import nowhere_at_all\n", "ModuleNotFoundError"),
        ("x = 1\n", "tool_c registers no tool named odd"),
    ],
)
def test_a_broken_package_is_warned_of_and_spoils_nothing(
    registry: Registry[Tool], install: Any, text: str, why: str
) -> None:
    install("tool_c", text, GROUP, "odd = tool_c")
    with pytest.warns(UserWarning, match=why):
        assert list(registry.all()) == ["own"]
    with pytest.raises(ConfigError, match=why) as fault:
        registry.get("odd")
    assert "\n" not in str(fault.value)


def test_two_packages_with_one_name_are_both_told(registry: Registry[Tool], install: Any) -> None:
    text = f"{PLAIN}TOOL = Tool()\n"
    install("tool_d", text, GROUP, "same = tool_d:TOOL")
    install("tool_e", text, GROUP, "same = tool_e:TOOL")
    with pytest.raises(ConfigError, match=r"named same: tool_[de] 1\.0 and tool_[de]"):
        registry.get("same")
    with pytest.warns(UserWarning, match="two tools are named same"):
        assert list(registry.all()) == ["own"]


def test_a_package_cannot_take_the_name_of_a_builtin(
    registry: Registry[Tool], install: Any
) -> None:
    with pytest.raises(ConfigError, match="two tools are named own"):
        registry.add("own", Tool(), "elsewhere")
    install("tool_f", f"{PLAIN}TOOL = Tool()\n", GROUP, "own = tool_f:TOOL")
    with pytest.warns(UserWarning, match="two tools are named own: egomem and tool_f 1.0"):
        assert registry.all() == {"own": OWN}
