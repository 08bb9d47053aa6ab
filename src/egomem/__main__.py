"""`python -m egomem`"""

from egomem.cli import run

run()
