"""The one seam on the way to a terminal: what texts hold that a terminal would obey is escaped.

Captions, names and screen text come from anywhere. A control character, an escape sequence or an
override of the writing direction in them could colour, hide or forge what is printed.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TextIO, cast

if TYPE_CHECKING:
    from rich.console import Console

# Controls but line feed and tab, and the characters that embed, override and isolate a direction.
# The plain marks of direction stay: Arabic and Hebrew are written with them.
_OBEYED = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u2028\u2029]")


def escaped(text: str) -> str:
    r"""The text with `\x1b` for an escape character, `\u202e` for an override, and so on."""
    return _OBEYED.sub(_as_text, text)


def _as_text(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def escaped_json(text: str) -> str:
    """JSON with such characters in the escapes of JSON, which is the same value."""
    return _OBEYED.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


class EscapingStream:
    """A text stream that escapes what is written to it; `raw` is the stream itself."""

    def __init__(self, raw: TextIO) -> None:
        self.raw = raw

    def write(self, text: str) -> int:
        self.raw.write(escaped(text))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.raw, name)


@contextmanager
def escaped_output() -> Iterator[None]:
    """Escape all that is printed meanwhile; a console of `make_console` styles past it."""
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = (cast(TextIO, EscapingStream(raw_stream(s))) for s in before)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def raw_stream(stream: TextIO) -> TextIO:
    """The stream below one that escapes; any other stream itself."""
    return stream.raw if isinstance(stream, EscapingStream) else stream


def make_console(stream: TextIO | None = None, **options: Any) -> Console:
    """A rich console that escapes texts, and writes its own styles as they are."""
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.segment import Segment
    from rich.text import Text

    class EscapingConsole(Console):
        # Plain texts before they are measured, so that columns of a table have room for them.
        def render_str(self, text: str, **options: Any) -> Text:
            return super().render_str(escaped(text), **options)

        def render(
            self, renderable: RenderableType, options: ConsoleOptions | None = None
        ) -> Iterable[Segment]:
            for segment in super().render(renderable, options):
                if segment.control:
                    yield segment
                else:
                    yield Segment(escaped(segment.text), segment.style)

    file = raw_stream(stream or sys.stdout)
    return EscapingConsole(file=file, emoji=False, markup=False, **options)
