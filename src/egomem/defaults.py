"""The values that hold where a user says nothing else."""

DEFAULT_WINDOW = 30.0
"""Seconds: the length of a window (CapMem: 30 or 60)."""
DEFAULT_FPS = 1.0
"""Frames a second that are looked at (CapMem)."""
MAX_FRAMES = 768
"""Frames of a direct request at most (CapMem's Qwen and aligned runs): 12.8 min at one a second."""
MAX_DIRECT_FRAMES = 128
"""Frames of a single pass over a whole video: one a second, and no more than the extra frames that
an active caption may take. Our choice."""
CAPTION_TOKENS = 1024
"""Maximum tokens per caption, reasoning included; our choice."""
DEFAULT_K = 10
"""Moments that a search returns; our choice."""
