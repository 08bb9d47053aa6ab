"""The client for all models: one request in, one reply with a status out, whatever happens."""

from __future__ import annotations

import asyncio
import os
import weakref
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from dataclasses import dataclass, field
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol, Self

from pydantic import JsonValue

from egomem.errors import ConfigError, MissingExtraError
from egomem.hashing import hash_json
from egomem.models.cache import ReplyStore
from egomem.models.capabilities import Capabilities, probe, server_version
from egomem.models.concurrency_limiter import ConcurrencyLimiter
from egomem.models.http_errors import FIT_REMEDY, FailedAttempt
from egomem.models.ledger import Ledger, LedgerEntry
from egomem.models.limits import (
    Limits,
    estimate_tokens,
    exceeded_limit,
    fit_request,
    limits_for,
    read_limits,
)
from egomem.models.prices import price
from egomem.models.reply import ErrorKind, Reply
from egomem.models.request import Request
from egomem.models.retry import RequestPolicy, error_reply, send_with_retries
from egomem.models.roles import ModelSpec, Role, read_specs
from egomem.records import Status, Usage

if TYPE_CHECKING:
    import httpx2


class ModelSettings(Protocol):
    """The fields of `egomem.config.Settings` that concern models."""

    @property
    def model(self) -> dict[str, str]: ...
    @property
    def limits(self) -> dict[str, dict[str, float]]: ...
    @property
    def fit(self) -> bool | None: ...
    @property
    def deadline(self) -> float: ...
    @property
    def concurrency(self) -> int: ...


OnSpent = Callable[[Usage], object]
"""Is told what one attempt took, just before its `BeforeSend` is left."""
BeforeSend = Callable[[Request, ModelSpec], AbstractAsyncContextManager[OnSpent]]
"""Entered before each HTTP attempt and left when its reply is there; raises to forbid sending."""


def _no_hook(request: Request, spec: ModelSpec) -> AbstractAsyncContextManager[OnSpent]:
    return nullcontext(lambda usage: None)


@dataclass
class _Session:
    """What belongs to one event loop: connections, limiters, requests in flight.

    `users` counts who needs the connections: blocks of `async with models`, and requests.
    """

    users: int = 0
    clients: dict[ModelSpec, httpx2.AsyncClient] = field(default_factory=dict)
    models: dict[ModelSpec, Any] = field(default_factory=dict)
    limiters: dict[str, ConcurrencyLimiter] = field(default_factory=dict)
    in_flight: dict[str, asyncio.Future[Reply]] = field(default_factory=dict)
    versions: dict[ModelSpec, asyncio.Task[str | None]] = field(default_factory=dict)


class ModelClient:
    """The models that fill the roles. Use as an async context manager, to close connections.

    `specs` maps role names (or `all`) to specs. `environ` holds the servers' keys. Replies are
    looked up and kept in `cache`; usage is recorded in `ledger`. `before_send` wraps every HTTP
    attempt, retries too: not what the cache answers.
    """

    def __init__(
        self,
        specs: Mapping[str, str],
        *,
        limits: Mapping[Role, Limits] | None = None,
        policy: RequestPolicy | None = None,
        cache: ReplyStore | None = None,
        environ: Mapping[str, str] = os.environ,
        before_send: BeforeSend = _no_hook,
    ) -> None:
        self.specs = read_specs(specs, environ)
        self.policy = policy or RequestPolicy()
        self.cache = cache
        self.ledger = Ledger()
        self._environ = environ
        self._before_send = before_send
        self._limits = dict(limits or {})
        # Remembered for all later requests: each refusal costs an attempt.
        self._schema_rejected: set[ModelSpec] = set()
        # Connections cannot move between event loops, and callers may run a loop per question.
        self._sessions: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, _Session] = (
            weakref.WeakKeyDictionary()
        )

    @classmethod
    def from_settings(cls, settings: ModelSettings, *, cache: ReplyStore | None = None) -> Self:
        """A client with the models, limits and policy of the settings.

        Raises ConfigError, which names the setting.
        """
        return cls(
            settings.model,
            limits=read_limits(settings.limits, fit=settings.fit),
            policy=RequestPolicy(deadline=settings.deadline, concurrency=settings.concurrency),
            cache=cache,
        )

    def has(self, role: Role) -> bool:
        """Whether a chat model fills a role."""
        return role in self.specs and not self.specs[role].embedded

    def spec(self, role: Role) -> ModelSpec:
        """The spec that fills a role. Raises ConfigError where none does."""
        spec = self.specs.get(role)
        if spec is None or spec.embedded:
            problem = "has no model" if spec is None else "cannot be filled by an embedded model"
            raise ConfigError(
                f"role {role.value} {problem}",
                f"give one, for example --model {role.value}=ollama:qwen3-vl:8b",
            )
        return spec

    def limits(self, role: Role) -> Limits:
        """The limits of a role's requests: those given, else the defaults."""
        return limits_for(role, self._limits)

    def estimate(self, request: Request, tokens_out: int = 150) -> Usage:
        """A rough estimate of a request's usage, before it is sent: see `estimate_tokens`.

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
        """Each role's model: its capabilities and its server's version. Asks each server once."""
        # One model often fills several roles.
        specs = list(dict.fromkeys(self.specs.values()))
        capabilities = await asyncio.gather(*(probe(spec, self._environ) for spec in specs))
        by_spec = dict(zip(specs, capabilities, strict=True))
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
        session = self._session()
        session.users -= 1
        if session.users <= 0:
            await self.close()

    async def close(self) -> None:
        """Close this event loop's connections, once nothing is in flight. Asking opens new ones."""
        session = self._sessions.pop(asyncio.get_running_loop(), None)
        if session is None:
            return
        # A version may still be asked for over the connections that are about to close.
        for version in session.versions.values():
            version.cancel()
        await asyncio.gather(*session.versions.values(), return_exceptions=True)
        for client in session.clients.values():
            await client.aclose()

    async def ask(self, request: Request) -> Reply:
        """The reply to a request, from the cache or from the model.

        What a server or a model does wrong is the reply's status. Raises only for a role without a
        model or a missing key (ConfigError) and for a missing extra (MissingExtraError). Equal
        requests that are in flight at once are sent once.
        """
        spec = self.spec(request.role)
        limits = self.limits(request.role)
        fitted = fit_request(request, limits) if limits.fit else request
        if problem := exceeded_limit(fitted, limits):
            detail = f"{problem}; send less, or {FIT_REMEDY}"
            return self._record(fitted, spec, error_reply(ErrorKind.IMAGES, detail))
        key_fields = fitted.key_fields(spec)
        if limits.fit:
            # The server may refuse more images than our limits do, so the reply may rest on fewer.
            key_fields["fit"] = True
        key = hash_json(key_fields)
        if self.cache is not None and (cached := self.cache.get(key)):
            return self._record(fitted, spec, cached.model_copy(update={"cached": True}))
        dropped = len(request.images) - len(fitted.images)
        async with self:
            return await self._ask_once(fitted, spec, limits, key, key_fields, dropped)

    async def _ask_once(
        self,
        request: Request,
        spec: ModelSpec,
        limits: Limits,
        key: str,
        key_fields: dict[str, JsonValue],
        dropped: int,
    ) -> Reply:
        """The reply to a request that is not in the cache, sent once however often it is asked.

        `dropped`: images that were left out of it before sending.
        """
        in_flight = self._session().in_flight
        # A loop: several may wait for one request, and where it is cancelled one of them sends it.
        while (other := in_flight.get(key)) is not None:
            await asyncio.wait([other])
            if not other.cancelled():
                return self._record(
                    request, spec, other.result().model_copy(update={"cached": True})
                )
        turn: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        in_flight[key] = turn
        try:
            reply = await self._send(request, spec, limits)
            reply = reply.model_copy(update={"key": key, "dropped": dropped + reply.dropped})
            # Only clean replies are kept: asking again may mend a refusal or an error.
            if self.cache is not None and reply.ok:
                self.cache.put(reply, key_fields, request.tags)
            turn.set_result(reply)
        finally:
            del in_flight[key]
            turn.cancel()  # no effect once it has a result; else those who wait take their turn
        return self._record(request, spec, reply)

    async def _send(self, request: Request, spec: ModelSpec, limits: Limits) -> Reply:
        """Send a request. Its reply's usage is that of all its attempts; where it raises, what was
        spent is in the ledger."""
        session = self._session()
        model = self._model(session, spec)
        # Loads httpx2, which the core install does not have.
        from egomem.models.attempt import send_once, usage_of
        from egomem.models.transport import HttpExchange

        key = spec.key(self._environ)
        exchange = HttpExchange()
        spent = Usage()

        @asynccontextmanager
        async def permit(request: Request) -> AsyncIterator[None]:
            nonlocal exchange, spent
            async with self._before_send(request, spec) as on_spent:
                exchange = HttpExchange()
                try:
                    yield
                finally:
                    usage = usage_of(exchange, spec)
                    spent += usage
                    on_spent(usage)

        async def attempt(request: Request) -> Reply | FailedAttempt:
            in_words = spec in self._schema_rejected
            outcome = await send_once(model, request, spec, key, exchange, schema_in_words=in_words)
            if isinstance(outcome, FailedAttempt) and outcome.schema_rejected:
                self._schema_rejected.add(spec)
            return outcome

        # Models of one server share its capacity, so the limiter is the address's, not the model's.
        limiter = session.limiters.setdefault(
            spec.url or spec.server, ConcurrencyLimiter(self.policy.concurrency)
        )
        try:
            reply = await send_with_retries(
                request,
                attempt,
                policy=self.policy,
                limits=limits,
                limiter=limiter,
                permit=permit,
            )
        except BaseException:
            if spent.requests:
                lost = Reply(status=Status.ERROR, detail="ended before its reply", usage=spent)
                self._record(request, spec, lost)
            raise
        if not spent.requests:
            return reply.model_copy(update={"usage": Usage()})
        seconds = {"frames": reply.usage.frames, "seconds": reply.usage.seconds}
        reply = reply.model_copy(update={"usage": spent.model_copy(update=seconds)})
        if reply.status is Status.ERROR:
            return reply  # the version would tell nothing of it
        return reply.model_copy(update={"version": await session.versions[spec]})

    def _model(self, session: _Session, spec: ModelSpec) -> Any:
        """The model of a spec, connected in this event loop."""
        if spec not in session.models:
            try:
                from egomem.models import transport
            except ImportError:
                raise MissingExtraError("pydantic-ai", "models") from None
            client = transport.http_client(spec.url or "https://")
            session.clients[spec] = client
            session.models[spec] = self._connected(spec, client)
            # Asked beside the first request, which need not wait for it.
            version = server_version(spec, client, spec.key(self._environ))
            session.versions[spec] = asyncio.create_task(version)
        return session.models[spec]

    def _connected(self, spec: ModelSpec, client: httpx2.AsyncClient) -> Any:
        from egomem.models import chat_completions

        if spec.server in chat_completions.DIRECT_SERVERS:
            return chat_completions.connect(spec, client, spec.key(self._environ))
        try:
            from egomem.models import pydantic_ai_adapter
        except ImportError:
            raise MissingExtraError("pydantic-ai", "models") from None
        return pydantic_ai_adapter.build_model(spec, client, self._environ)

    def _record(self, request: Request, spec: ModelSpec, reply: Reply) -> Reply:
        """Enter a request into the ledger; return its reply."""
        usage = Usage() if reply.cached else reply.usage
        estimate = None
        if usage.without_price and (guess := self.estimate(request).cost) is not None:
            estimate = guess * usage.without_price
        entry = LedgerEntry(
            role=request.role,
            model=str(spec),
            recording=request.tags.recording,
            question=request.tags.question,
            status=reply.status,
            cached=reply.cached,
            usage=usage,
            estimate=estimate,
        )
        self.ledger.add(entry)
        if self.cache is not None:
            self.cache.record(entry)
        return reply

    def _session(self) -> _Session:
        return self._sessions.setdefault(asyncio.get_running_loop(), _Session())
