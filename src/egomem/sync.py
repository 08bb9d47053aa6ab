"""The blocking twin of an async method, and the async twin of a blocking one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class HasConnections(Protocol):
    def connections(self) -> AbstractAsyncContextManager[object]:
        """What stays open for the whole of one call, such as connections to model servers."""


S = TypeVar("S", bound=HasConnections)


def blocking(
    method: Callable[Concatenate[S, P], Coroutine[Any, Any, T]],
) -> Callable[Concatenate[S, P], T]:
    """The blocking twin of an async method; it works inside a running loop (a notebook), too."""

    @wraps(method)
    def run(self: S, /, *args: P.args, **kwargs: P.kwargs) -> T:
        async def call() -> T:
            async with self.connections():
                return await method(self, *args, **kwargs)

        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return asyncio.run(call())
        # A notebook runs a loop already, and a loop cannot be entered twice: use another thread's.
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(asyncio.run, call()).result()

    return run


def in_thread(
    method: Callable[Concatenate[S, P], T],
) -> Callable[Concatenate[S, P], Coroutine[Any, Any, T]]:
    """The async twin of a blocking method: it runs in a thread, so that the loop goes on."""

    @wraps(method)
    async def run(self: S, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await asyncio.to_thread(method, self, *args, **kwargs)

    return run
