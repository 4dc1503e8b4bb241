"""Pushes that are gathered: which go together in a request, and what its answer means for each."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, List, Mapping, Optional, Sequence, Union

from ._wire import UNSET, Wire, encode, path, wire
from .errors import ApiError, PunctualError, error_of_item

# One request carries at most so many tasks and bytes. The server takes more; this keeps each answer quick.
ITEMS_MAX = 1_000
BYTES_MAX = 4 << 20
# Refusals of a batch that may be the fault of one item only.
_PERHAPS_ONE = (400, 413, 422)


@dataclass(frozen=True)
class Pushed:
    """A task that the server has, durably."""

    queue: str
    id: str


Answer = Union[Pushed, PunctualError]


def item_of(payload: Any, fields: Mapping[str, Any]) -> bytes:
    """A task as it is sent."""
    task = {name: value for name, value in fields.items() if value is not UNSET}
    if payload is not UNSET:
        task["payload"] = payload
    return encode(task)


def portion(items: Sequence[bytes]) -> int:
    """How many of the first items go into one request: at least one."""
    size = 0
    for index, item in enumerate(items[:ITEMS_MAX]):
        size += len(item)
        if index and size > BYTES_MAX:
            return index
    return min(len(items), ITEMS_MAX)


def request(queue: str, items: Sequence[bytes]) -> Wire:
    """One task as itself, several as a batch; keyed, so that a repeat pushes nothing twice."""
    call = wire("POST", path("/v1/queues/{queue}/tasks", queue), is_keyed=True)
    call.body = items[0] if len(items) == 1 else b'{"tasks":[' + b",".join(items) + b"]}"
    return call


def answers(queue: str, items: Sequence[bytes], content: bytes) -> List[Answer]:
    """Each item's own answer."""
    told = json.loads(content)
    if len(items) == 1:
        return [Pushed(queue, told["id"])]
    return [Pushed(queue, it["id"]) if it["ok"] else error_of_item(it) for it in told["results"]]


def is_perhaps_one(error: PunctualError, items: Sequence[bytes]) -> bool:
    """Whether the items are to be sent one by one, so that each caller gets its own answer."""
    return len(items) > 1 and isinstance(error, ApiError) and error.status in _PERHAPS_ONE


def only(answer: Optional[Answer]) -> Pushed:
    """The answer as the caller gets it."""
    if isinstance(answer, Pushed):
        return answer
    raise answer if answer is not None else PunctualError("the push was given up")
