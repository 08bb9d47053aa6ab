"""Fixtures of the evaluation's tests: a report is of a run."""

from ..evaluate.conftest import benchmark, chromium, config, go, server, spec

__all__ = ["benchmark", "chromium", "config", "go", "server", "spec"]
