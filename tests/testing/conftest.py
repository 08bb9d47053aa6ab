"""Fixtures of the models' tests."""

from ..models.conftest import models, serve

__all__ = ["models", "serve"]
