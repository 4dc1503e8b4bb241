"""Shared parts of the tests."""

from __future__ import annotations

import time
from typing import Callable, Iterator, TypeVar

import pytest

from punctual.testing import Server

T = TypeVar("T")


def until(condition: Callable[[], T], timeout: float = 20.0) -> T:
    """Waits until a condition holds, and answers what it answered."""
    end = time.monotonic() + timeout
    while True:
        found = condition()
        if found:
            return found
        if time.monotonic() > end:
            raise AssertionError("it did not happen in time")
        time.sleep(0.01)


@pytest.fixture
def durable_server() -> Iterator[Server]:
    """A server that can be killed and comes back with its data."""
    with Server(dev=False, durable=True) as server:
        yield server
