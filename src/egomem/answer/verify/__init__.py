"""Retrieve and verify: the caption answer, checked against frames of the moments found (CapMem)."""
