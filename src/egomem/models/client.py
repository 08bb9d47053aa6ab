"""Asking models: one request in, one reply with a status out, whatever the server does."""

from __future__ import annotations

import asyncio
import os
import random
import weakref
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from pydantic import JsonValue

from egomem.errors import ConfigError, MissingExtraError
from egomem.hashing import hash_json
from egomem.models.cache import ReplyStore
from egomem.models.capabilities import Capabilities, probe, server_version
from egomem.models.concurrency_limiter import ConcurrencyLimiter
from egomem.models.http_errors import FIT_REMEDY
from egomem.models.ledger import Ledger, LedgerEntry
from egomem.models.limits import (
    Limits,
    estimate_tokens,
    exceeded_limit,
    fit_request,
    keep_images,
    limits_for,
)
from egomem.models.prices import price
from egomem.models.reply import ErrorKind, Reply
from egomem.models.request import Request
from egomem.models.roles import ModelSpec, Role, read_specs
from egomem.records import Record, Status, Usage

if TYPE_CHECKING:
    import httpx2


class RequestPolicy(Record):
    """How requests are sent. Named defaults; our choice.

    `deadline`: seconds for a request, all its attempts and the waits between them together, from
    the moment it first gets a slot. `concurrency`: requests at once to one server, at most.
    `attempts`: at most so many. `pause`: seconds before the second attempt; doubles, with jitter.
    """

    deadline: float = 180.0
    concurrency: int = 8
    attempts: int = 6
    pause: float = 1.0


BeforeSend = Callable[[Request, ModelSpec], AbstractAsyncContextManager[object]]
"""Entered before a request is sent and left once its reply is there; raises to forbid it."""


def _no_hook(request: Request, spec: ModelSpec) -> AbstractAsyncContextManager[object]:
    return nullcontext()


@dataclass
class _Session:
    """What belongs to one event loop: connections, gates, requests under way.

    `users` counts who needs the connections: blocks of `async with models`, and requests.
    """

    users: int = 0

    clients: dict[ModelSpec, httpx2.AsyncClient] = field(default_factory=dict)
    models: dict[ModelSpec, Any] = field(default_factory=dict)
    gates: dict[str, ConcurrencyLimiter] = field(default_factory=dict)
    under_way: dict[str, asyncio.Future[Reply]] = field(default_factory=dict)
    versions: dict[ModelSpec, asyncio.Task[str | None]] = field(default_factory=dict)


class ModelClient:
    """The models that fill the roles. Use as an async context manager, to close connections.

    `specs` maps role names (or `all`) to specs. `environ` holds the servers' keys. Replies are
    looked up in and kept in `cache`; what is spent goes to `ledger`. `hold` is around every request
    that is really sent.
    """

    def __init__(
        self,
        specs: Mapping[str, str],
        *,
        limits: Mapping[Role, Limits] | None = None,
        conduct: RequestPolicy | None = None,
        cache: ReplyStore | None = None,
        environ: Mapping[str, str] = os.environ,
        hold: BeforeSend = _no_hook,
    ) -> None:
        self.specs = read_specs(specs, environ)
        self.conduct = conduct or RequestPolicy()
        self.cache = cache
        self.ledger = Ledger()
        self._environ = environ
        self._hold = hold
        self._limits = dict(limits or {})
        self._prompted: set[ModelSpec] = set()
        self._sessions: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, _Session] = (
            weakref.WeakKeyDictionary()
        )

    def has(self, role: Role) -> bool:
        return role in self.specs and not self.specs[role].embedded

    def spec(self, role: Role) -> ModelSpec:
        """The spec that fills a role. Raises ConfigError where none does."""
        spec = self.specs.get(role)
        if spec is None or spec.embedded:
            what = "has no model" if spec is None else "cannot be filled by an embedded model"
            raise ConfigError(
                f"role {role.value} {what}",
                f"give one, for example --model {role.value}=ollama:qwen3-vl:8b",
            )
        return spec

    def limits(self, role: Role) -> Limits:
        return limits_for(role, self._limits)

    def estimate(self, request: Request, tokens_out: int = 150) -> Usage:
        """What a request will cost, roughly, before it is sent: see `estimate_tokens`.

        `cost` is None where the price is not known.
        """
        usage = Usage(
            requests=1,
            tokens_in=estimate_tokens(request),
            tokens_out=tokens_out,
            frames=len(request.images),
        )
        return usage.model_copy(update={"cost": price(self.spec(request.role), usage)})

    async def probe(self) -> dict[Role, Capabilities]:
        """What each role's model can do, and its server's version; each server is asked once."""
        specs = list(dict.fromkeys(self.specs.values()))
        found = await asyncio.gather(*(probe(spec, self._environ) for spec in specs))
        by_spec = dict(zip(specs, found, strict=True))
        return {role: by_spec[self.specs[role]] for role in Role if role in self.specs}

    async def __aenter__(self) -> Self:
        self._session().users += 1
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._leave()

    async def _leave(self) -> None:
        """Close this event loop's connections when nobody needs them any more.

        Each loop has its own, and none outlives its use: callers may run a loop per question.
        """
        session = self._session()
        session.users -= 1
        if session.users <= 0:
            await self.close()

    async def close(self) -> None:
        """Close this event loop's connections, once nothing is under way. Asking opens new ones."""
        session = self._sessions.pop(asyncio.get_running_loop(), None)
        if session is None:
            return
        for version in session.versions.values():
            version.cancel()
        await asyncio.gather(*session.versions.values(), return_exceptions=True)
        for client in session.clients.values():
            await client.aclose()

    async def ask(self, request: Request) -> Reply:
        """The reply to a request, from the cache or from the model.

        What a server or a model does wrong is the reply's status; only a role without a model, a
        missing key or a missing extra raise (ConfigError, MissingExtraError). Requests that are the
        same and under way at once are sent once.
        """
        spec = self.spec(request.role)
        limits = self.limits(request.role)
        whole = request
        if limits.fit:
            request = fit_request(request, limits)
        if broken := exceeded_limit(request, limits):
            return self._counted(
                request,
                spec,
                _error_reply(ErrorKind.IMAGES, f"{broken}; send less, or {FIT_REMEDY}"),
            )
        described = request.described(spec)
        if limits.fit:
            described["fit"] = True
        key = hash_json(described)
        if self.cache is not None and (kept := self.cache.get(key)):
            return self._counted(request, spec, kept.model_copy(update={"cached": True}))
        async with self:
            return await self._asked(whole, request, spec, limits, key, described)

    async def _asked(
        self,
        whole: Request,
        request: Request,
        spec: ModelSpec,
        limits: Limits,
        key: str,
        described: dict[str, JsonValue],
    ) -> Reply:
        """The reply to a request that is not in the cache, sent once however often it is asked."""
        under_way = self._session().under_way
        while (other := under_way.get(key)) is not None:
            await asyncio.wait([other])
            if not other.cancelled():
                return self._counted(
                    request, spec, other.result().model_copy(update={"cached": True})
                )
        turn: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        under_way[key] = turn
        try:
            async with self._hold(request, spec):
                reply = await self._send(whole, request, spec, limits)
            reply = reply.model_copy(update={"key": key})
            if self.cache is not None and reply.ok:
                self.cache.put(reply, described, request.about)
            turn.set_result(reply)
        finally:
            del under_way[key]
            turn.cancel()  # no effect once it has a result; else those who wait take their turn
        return self._counted(request, spec, reply)

    def _counted(self, request: Request, spec: ModelSpec, reply: Reply) -> Reply:
        entry = LedgerEntry(
            role=request.role,
            model=str(spec),
            recording=request.about.recording,
            question=request.about.question,
            status=reply.status,
            cached=reply.cached,
            usage=Usage() if reply.cached else reply.usage,
        )
        self.ledger.add(entry)
        if self.cache is not None:
            self.cache.spent(entry)
        return reply

    def _session(self) -> _Session:
        return self._sessions.setdefault(asyncio.get_running_loop(), _Session())

    def _gate(self, spec: ModelSpec) -> ConcurrencyLimiter:
        gates = self._session().gates
        return gates.setdefault(
            spec.url or spec.server, ConcurrencyLimiter(self.conduct.concurrency)
        )

    def _model(self, spec: ModelSpec) -> Any:
        session = self._session()
        if spec not in session.models:
            try:
                from egomem.models import (  # take more than a second to load
                    pydantic_ai_adapter,
                    transport,
                )
            except ImportError:
                raise MissingExtraError("pydantic-ai", "models") from None
            client = transport.http_client(spec.url or "https://")
            session.clients[spec] = client
            session.models[spec] = pydantic_ai_adapter.build_model(spec, client, self._environ)
            ask = server_version(spec, client, spec.key(self._environ))
            session.versions[spec] = asyncio.create_task(ask)
        return session.models[spec]

    async def _send(
        self, whole: Request, request: Request, spec: ModelSpec, limits: Limits
    ) -> Reply:
        """Attempts until a reply, a final refusal, or the deadline."""
        model = self._model(spec)
        from egomem.models.attempt import send_once

        loop = asyncio.get_running_loop()
        gate = self._gate(spec)
        key = spec.key(self._environ)
        conduct = self.conduct
        begun = end = 0.0
        heard = ""
        number = 0

        def finished(reply: Reply) -> Reply:
            spent = {"frames": len(request.images), "seconds": loop.time() - begun}
            return reply.model_copy(
                update={
                    "attempts": number,
                    "dropped": len(whole.images) - len(request.images),
                    "usage": reply.usage.model_copy(update=spent if reply.usage.requests else {}),
                }
            )

        while True:
            number += 1
            prompted = spec in self._prompted
            try:
                async with asyncio.timeout_at(end or None) as timer, gate.slot() as started:
                    if not end:
                        begun, end = started, started + conduct.deadline
                        timer.reschedule(end)
                    outcome = await send_once(model, request, spec, key, prompted=prompted)
            except TimeoutError:
                return finished(_deadline_reply(ErrorKind.DEADLINE, conduct.deadline, heard))
            if isinstance(outcome, Reply):
                gate.went_well()
                version = await self._session().versions[spec]
                return finished(outcome.model_copy(update={"version": version}))
            heard = outcome.detail
            gate.reached |= outcome.fault is not ErrorKind.CONNECTION
            if outcome.schema and request.schema is not None and not prompted:
                self._prompted.add(spec)
                continue
            if limits.fit and outcome.fault in (ErrorKind.IMAGES, ErrorKind.CONTEXT):
                count = len(request.images)
                if count > 1:
                    request = keep_images(request, outcome.most or count // 2)
                    continue
            # A server that never answered is likely not there at all.
            most = conduct.attempts if gate.reached else min(conduct.attempts, 2)
            if not outcome.retry or number >= most:
                return finished(_error_reply(outcome.fault, outcome.detail))
            # Jitter on our own part of the wait; what the server asks for is the least.
            pause = conduct.pause * 2 ** (number - 1) * random.uniform(0.5, 1.5)
            wait = max(outcome.wait or 0.0, min(pause, 30.0))
            if outcome.busy:
                gate.busy(started, outcome.wait or 0.0)
            if loop.time() + wait >= end:
                return finished(_deadline_reply(outcome.fault, conduct.deadline, heard, wait))
            await asyncio.sleep(wait)


def _error_reply(fault: ErrorKind, detail: str) -> Reply:
    return Reply(status=Status.ERROR, fault=fault, detail=detail)


def _deadline_reply(fault: ErrorKind, deadline: float, heard: str, wait: float = 0.0) -> Reply:
    """The reply to a request whose seconds are over, with the last thing that was heard."""
    more = f", and {wait:.0f} s more were to be waited" if wait else ""
    last = f"; last: {heard}" if heard else ""
    return _error_reply(fault, f"no reply within {deadline:g} s{more}{last}; raise EGOMEM_DEADLINE")
