"""Sends requests and waits for their answers, with pauses while the server is away."""

from __future__ import annotations

import json
import time
from types import TracebackType
from typing import Any, Optional, Type, TypeVar

import httpx

from ._wire import CONNECT_TIMEOUT_S, TIMEOUT_S, Wire, base_url, head_of, may_repeat, pause_s, problem
from .errors import ApiError, NoAnswer, PunctualError, Unreachable

Self = TypeVar("Self", bound="Transport")


class Transport:
    """A pool of connections to one server. Threads may share it."""

    def __init__(
        self,
        url: Optional[str] = None,
        token: Optional[str] = None,
        *,
        retry_for: float = 10.0,
        http: Optional[httpx.Client] = None,
    ) -> None:
        """`url` and `token` default to PUNCTUAL_URL and PUNCTUAL_TOKEN; a server that is away is waited for
        up to `retry_for` seconds; `http` replaces the connection pool, for proxies and certificates.
        """
        self.url = base_url(url)
        self.retry_for = retry_for
        self._head = head_of(token)
        limits = httpx.Limits(max_connections=None, max_keepalive_connections=32)
        self._http = http or httpx.Client(limits=limits, trust_env=False)

    def close(self) -> None:
        """Closes its connections."""
        self._http.close()

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        self.close()

    def _json(self, call: Wire) -> Any:
        content = self._bytes(call)
        try:
            return json.loads(content)
        except ValueError as error:
            raise ApiError(200, "unreadable", f"{self.url} does not answer as a Punctual server") from error

    def _text(self, call: Wire) -> str:
        return self._bytes(call).decode(errors="replace")

    def _none(self, call: Wire) -> None:
        self._bytes(call)

    def _bytes(self, call: Wire) -> bytes:
        until = time.monotonic() + self.retry_for
        failures = 0
        was_unclear = False
        while True:
            try:
                return self._once(call)
            except PunctualError as error:
                if was_unclear and call.method == "DELETE" and isinstance(error, ApiError) and error.status == 404:
                    return b""  # The first try removed it, and its answer was lost.
                wait = pause_s(failures, error)
                if not may_repeat(error, call) or time.monotonic() + wait > until:
                    raise
                was_unclear = was_unclear or not isinstance(error, Unreachable)
                failures += 1
                time.sleep(wait)

    def _once(self, call: Wire) -> bytes:
        try:
            answer = self._http.request(
                call.method,
                self.url + call.path,
                params=tuple(call.query) or None,
                content=call.body,
                headers={**self._head, **call.headers},
                timeout=httpx.Timeout(TIMEOUT_S + call.wait_s, connect=CONNECT_TIMEOUT_S),
            )
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            raise Unreachable(f"cannot reach {self.url}: {error}") from error
        except httpx.TransportError as error:
            raise NoAnswer(f"no answer from {self.url}: {error or type(error).__name__}") from error
        if not answer.is_success:
            raise problem(answer.status_code, answer.content, answer.headers.get("retry-after"))
        return answer.content
