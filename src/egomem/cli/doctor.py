"""`egomem doctor`"""

from __future__ import annotations

from typing import TYPE_CHECKING

from egomem.cli.options import JsonOption, MemoryOption
from egomem.cli.output import print_result

if TYPE_CHECKING:
    from rich.console import Console


def doctor(memory: MemoryOption = None, json: JsonOption = False) -> None:
    """Print what works on this machine, what is missing, and the line that installs it.

    Ends with exit code 1 where something is wrong; a part that is merely not installed is not.
    """
    from egomem.config import load_settings
    from egomem.doctor import examine

    findings = examine(load_settings(memory=memory))

    def show(out: Console) -> None:
        for finding in findings:
            out.print(f"{finding.state:8} {finding.name:18} {finding.detail}")
            if finding.remedy and finding.state != "wrong":
                out.print(f"{'':27} {finding.remedy}")

    result = {"findings": [finding.model_dump() for finding in findings]}
    problems = [(f"{f.name}: {f.detail}", f.remedy) for f in findings if f.state == "wrong"]
    print_result("doctor", result, show=show, json=json, problems=problems)
