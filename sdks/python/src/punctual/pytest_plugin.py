"""Fixtures for pytest: `punctual_server`, one per test, in memory, with a clock that the test moves."""

from __future__ import annotations

from typing import Iterator

import pytest

from .client import Client
from .testing import Server


@pytest.fixture
def punctual_server() -> Iterator[Server]:
    """A server of the test's own, started with `--dev`; `punctual_server.advance("1h")` moves its clock."""
    with Server("--allow-private-targets") as server:
        yield server


@pytest.fixture
def punctual_client(punctual_server: Server) -> Client:
    """A client of that server."""
    return punctual_server.client
