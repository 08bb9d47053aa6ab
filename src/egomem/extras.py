"""Optional parts of egomem (pip's "extras") and the line that installs one."""

from __future__ import annotations

import json
import shlex
from importlib.util import find_spec
from typing import Any


def are_installed(*modules: str) -> bool:
    """True where every module can be imported; none is."""
    try:
        return all(find_spec(module) is not None for module in modules)
    except ModuleNotFoundError:  # the package that a dotted name lies in
        return False


def install_line(extra: str) -> str:
    """Return the shell line that installs an extra, from wherever egomem itself was installed.

    A clone, a wheel or a repository is named as pip recorded it (PEP 610, `direct_url.json`);
    without such a record egomem came from a package index, where its name is enough.
    """
    return f"pip install {_requirement(extra)}"


def _requirement(extra: str) -> str:
    from urllib.parse import unquote, urlparse

    record = _direct_url()
    url = str(record.get("url", ""))
    vcs = record.get("vcs_info")
    if vcs:
        return shlex.quote(f"egomem[{extra}] @ {vcs['vcs']}+{url}@{vcs['commit_id']}")
    if url.startswith("file:"):
        target = shlex.quote(f"{unquote(urlparse(url).path)}[{extra}]")
        # An editable install stays one: without -e pip would put a copy in its place.
        return f"-e {target}" if record.get("dir_info", {}).get("editable") else target
    if url:
        return shlex.quote(f"egomem[{extra}] @ {url}")
    return shlex.quote(f"egomem[{extra}]")


def _direct_url() -> dict[str, Any]:
    # Imported here, as every error imports this file and few need a line that installs something.
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        text = distribution("egomem").read_text("direct_url.json")
    except PackageNotFoundError:  # a source tree that was never installed
        return {}
    record: dict[str, Any] = json.loads(text) if text else {}
    return record
