"""Requests before they are sent, and what their answers mean. No IO; both transports use it."""

from __future__ import annotations

import enum
import json
import os
import random
import re
import uuid
from dataclasses import dataclass, field
from typing import Any, Dict, List, Mapping, Optional, Tuple
from urllib.parse import quote, urlsplit

from .errors import ApiError, NoAnswer, PunctualError, Unreachable

DEFAULT_URL = "http://127.0.0.1:23334"
# How long a request may take beyond the time it asked the server to wait.
TIMEOUT_S = 30.0
CONNECT_TIMEOUT_S = 5.0
PAUSE_FIRST_S = 0.1
PAUSE_MAX_S = 2.0
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


class Unset(enum.Enum):
    """A field that was left out, in contrast to None, which sets it back."""

    UNSET = "unset"

    def __repr__(self) -> str:
        return "UNSET"


UNSET = Unset.UNSET


@dataclass
class Wire:
    """A request, ready to be sent again and again."""

    method: str
    path: str
    query: List[Tuple[str, str]] = field(default_factory=list)
    body: Optional[bytes] = None
    headers: Dict[str, str] = field(default_factory=dict)
    # Whether it may be sent again when nobody knows if it took effect.
    is_repeated: bool = True
    # How long the server was asked to wait.
    wait_s: float = 0.0


def wire(
    method: str,
    path: str,
    *,
    body: Any = None,
    query: Optional[Mapping[str, Any]] = None,
    headers: Optional[Mapping[str, Optional[str]]] = None,
    is_keyed: bool = False,
    is_repeated: bool = True,
) -> Wire:
    """Writes a request. `is_keyed`: the server recognises a repeat by its Idempotency-Key."""
    wait: Any = None
    if isinstance(body, dict):
        body = {name: value for name, value in body.items() if value is not UNSET}
        wait = body.get("wait")
    pairs = [(name, _parameter(value)) for name, value in (query or {}).items() if value is not None]
    wait = wait or (query or {}).get("wait")
    named = {name: value for name, value in (headers or {}).items() if value is not None}
    if is_keyed and "Idempotency-Key" not in named:
        named["Idempotency-Key"] = uuid.uuid4().hex
    sent = None if method in ("GET", "DELETE") else encode({} if body is None else body)
    if sent is not None:
        named["content-type"] = "application/json"
    return Wire(method, path, pairs, sent, named, is_repeated, seconds_of(wait))


def _parameter(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return ",".join(str(item) for item in value)
    return str(value)


def path(template: str, *values: str) -> str:
    """Fills the places of a path. Everything but unreserved characters is escaped."""
    parts = iter(values)

    def escaped(_: "re.Match[str]") -> str:
        value = str(next(parts))
        if value in ("", ".", ".."):
            raise PunctualError(f"{value!r} is no name, id or key: the path would be another one")
        return quote(value, safe="-._~:@")

    return re.sub(r"\{\w+\}", escaped, template)


def encode(value: Any) -> bytes:
    """JSON, compact; NaN and infinities are refused because no JSON has them."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()


def seconds_of(duration: Any) -> float:
    """The length of a duration as the server reads it: seconds, or numbers with units; 0 if it is neither."""
    if isinstance(duration, (int, float)):
        return float(duration)
    if not isinstance(duration, str):
        return 0.0
    try:
        return float(duration)
    except ValueError:
        parts = re.findall(r"([0-9.]+)(ms|s|m|h|d)", duration)
        return sum(float(number) * _UNITS[unit] for number, unit in parts)


def base_url(url: Optional[str]) -> str:
    url = url or os.environ.get("PUNCTUAL_URL") or DEFAULT_URL
    if "://" not in url:
        url = f"http://{url}"
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise PunctualError(f"{url!r} is no address of a server, such as {DEFAULT_URL}")
    return url.rstrip("/")


def head_of(token: Optional[str]) -> Dict[str, str]:
    token = token if token is not None else os.environ.get("PUNCTUAL_TOKEN")
    # Compression costs more than it saves between machines of one site.
    head = {"user-agent": "punctual-python", "accept-encoding": "identity"}
    if token:
        head["authorization"] = f"Bearer {token}"
    return head


def problem(status: int, content: bytes, retry_after: Optional[str]) -> PunctualError:
    """The error of an answer that is no success."""
    try:
        after = float(retry_after) if retry_after else None
    except ValueError:
        after = None
    try:
        told = json.loads(content)
        return ApiError(status, told["code"], told.get("detail", ""), told.get("effect"), after)
    except (ValueError, KeyError, TypeError, AttributeError):
        if status in (502, 503, 504):
            return NoAnswer(f"something between here and the server answered {status}")
        return ApiError(status, "unreadable", f"{status}: {content[:200].decode(errors='replace')}", None, after)


def may_repeat(error: PunctualError, call: Wire) -> bool:
    """Whether the same request may succeed later, and has no second effect then."""
    if isinstance(error, Unreachable):
        return True
    if isinstance(error, NoAnswer):
        return call.is_repeated
    if isinstance(error, ApiError):
        if error.code == "limited":
            return True
        return error.status == 503 and (call.is_repeated or error.effect == "none")
    return False


def pause_s(failures: int, error: PunctualError, pause_max_s: float = PAUSE_MAX_S) -> float:
    """How long to wait after so many failures in a row: longer each time, never in step with others."""
    wait = min(PAUSE_FIRST_S * 2.0 ** min(failures, 10), pause_max_s)
    after = error.retry_after if isinstance(error, ApiError) else None
    return max(wait * random.uniform(0.75, 1.0), after or 0.0)
