"""Fixtures of the models' tests."""

from ..models.conftest import ask, models, serve

__all__ = ["ask", "models", "serve"]
