"""egomem inside other evaluation harnesses: inspect_ai and lmms-eval."""
