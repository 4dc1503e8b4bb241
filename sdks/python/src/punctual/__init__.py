"""Client and worker for Punctual: a durable task queue, merging delay queue, webhook notifier and scheduler."""

from __future__ import annotations

from . import types, webhooks
from ._events import Event
from ._logs import TaskLog
from ._push import Pushed
from ._wire import UNSET
from .app import Punctual
from .client import Client
from .client_async import AsyncClient
from .errors import ApiError, NoAnswer, PunctualError, Unreachable
from .task import Fail, Release, Stopped, Task
from .webhooks import WebhookError, verify

__version__ = "0.1.0"
__all__ = [
    "UNSET",
    "ApiError",
    "AsyncClient",
    "Client",
    "Event",
    "Fail",
    "NoAnswer",
    "Punctual",
    "PunctualError",
    "Pushed",
    "Release",
    "Stopped",
    "Task",
    "TaskLog",
    "Unreachable",
    "WebhookError",
    "types",
    "verify",
    "webhooks",
]
