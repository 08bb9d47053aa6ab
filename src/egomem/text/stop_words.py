"""Words that say nothing of what a text is about."""

from egomem.text.stemming import stems

_STOP_WORDS = """
a an and any are as at be been being but by could did do does doing done for from had has have he
her here hers him his how i if in into is it its me my of on or our she so some than that the
their them then there these they this those to was we were what when where which while who whom
whose why will with would you your am about ever just up us
"""
STOP_WORDS = frozenset(stems(_STOP_WORDS.split()))
"""Stems that say nothing of what a text is about, or a question asks for."""
