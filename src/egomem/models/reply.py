"""A model's reply: a value with a status, so that an error text never becomes an answer."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field, JsonValue

from egomem.errors import ModelError
from egomem.records import Record, Status, Usage


class ErrorKind(StrEnum):
    """Why a request ended without a usable reply."""

    DEADLINE = "deadline"  # no reply within the request's seconds, all attempts together
    RATE = "rate"  # 429 to the last attempt
    SERVER = "server"  # 5xx, or a body that is no reply
    CONNECTION = "connection"  # no connection, or dropped
    KEY = "key"  # 401, 403, or no key at all
    MODEL = "model"  # 404: no such model or address
    IMAGES = "images"  # too many or too large images for the server, or for our own limits
    CONTEXT = "context"  # longer than the model's context
    FILTER = "filter"  # stopped by the provider's content filter, before or after the model
    REQUEST = "request"  # any other 4xx
    EMPTY = "empty"  # a reply without choices or without text


class Reply(Record):
    """What came back from a model, whatever it was.

    `raw` is the model's text exactly as received. `text` is the part to read: without thinking,
    and empty unless the reply ended cleanly. `data` is the JSON that fits the request's schema.
    `source` says where `text` came from: the reply's content, or (rarely) its reasoning field.
    `finish` is the reason that the server gave, in its own words. `frames` are the true times of
    the images sent; `dropped` says how many were left out to fit (see `Limits`).
    `server` is the spec's kind of server, `version` the version that it reports.
    `cached`: nothing was sent for it; it comes from the cache, or from the same request under way.
    `detail` is one line for a person: what went wrong, and what to change.
    """

    status: Status
    text: str = ""
    raw: str = ""
    reasoning: str = ""
    data: JsonValue = None
    source: str = "content"
    logprobs: tuple[TokenLogprob, ...] | None = None
    finish: str | None = None
    fault: ErrorKind | None = None
    detail: str = ""
    usage: Usage = Usage()
    model: str = ""
    server: str = ""
    version: str | None = None
    key: str = ""
    cached: bool = False
    frames: tuple[float, ...] = ()
    dropped: int = 0
    attempts: int = 0

    @property
    def ok(self) -> bool:
        """Whether the reply ended cleanly and, with a schema, has JSON that fits it."""
        return self.status is Status.PARSED

    def raise_for_error(self) -> Reply:
        """This reply. Raises ModelError with `detail` where its status is an error."""
        if self.status is Status.ERROR:
            raise ModelError(self.detail)
        return self


class TokenLogprob(Record):
    """A token, its natural-log probability, and the most likely tokens in its place."""

    token: str
    logprob: float
    top: dict[str, float] = Field(default_factory=dict)


Reply.model_rebuild()
