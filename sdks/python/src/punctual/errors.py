"""Errors of requests, and whether the request may have taken effect all the same."""

from __future__ import annotations

from typing import Any, Mapping, Optional


class PunctualError(Exception):
    """Base of everything this package raises."""


class Unreachable(PunctualError):
    """No connection could be made. Nothing was sent."""


class NoAnswer(PunctualError):
    """The connection broke, or no answer came in time. The request may have taken effect."""


class ApiError(PunctualError):
    """The server refused the request.

    `code` is stable and for programs, `detail` is a sentence for people. `effect` is "none" or "unknown" where
    the server cannot write at the moment.
    """

    def __init__(
        self,
        status: int,
        code: str,
        detail: str,
        effect: Optional[str] = None,
        retry_after: Optional[float] = None,
    ) -> None:
        super().__init__(f"{code}: {detail}" if detail else code)
        self.status = status
        self.code = code
        self.detail = detail
        self.effect = effect
        self.retry_after = retry_after


# The status of an item's code where a batch answers 200.
STATUSES = {
    "bad_json": 400,
    "unauthorized": 401,
    "forbidden": 403,
    "not_found": 404,
    "duplicate": 409,
    "stale_token": 409,
    "wrong_state": 409,
    "changed": 412,
    "too_large": 413,
    "unsupported": 415,
    "invalid": 422,
    "queue_full": 429,
    "limited": 429,
    "unavailable": 503,
}


def error_of_item(result: Mapping[str, Any]) -> ApiError:
    """The error of one item of a batch."""
    code = result.get("code") or "invalid"
    return ApiError(STATUSES.get(code, 422), code, result.get("detail") or "", result.get("effect"))
