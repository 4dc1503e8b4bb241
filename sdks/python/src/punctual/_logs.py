"""Log records of handlers become lines of their task's log."""

from __future__ import annotations

import logging

from .task import current_task

logger = logging.getLogger("punctual")


class TaskLog(logging.Handler):
    """Passes on what is logged while a handler runs. Add it to a logger, or let `Punctual` add it to the root."""

    def __init__(self, level: int = logging.INFO) -> None:
        super().__init__(level)
        self.setFormatter(logging.Formatter("%(levelname)s %(name)s: %(message)s"))

    def emit(self, record: logging.LogRecord) -> None:
        if record.levelno >= logging.WARNING and self._is_alone and logging.lastResort is not None:
            # Without a handler of the program's own, warnings go to standard error as they do without this one.
            logging.lastResort.handle(record)
        task = current_task.get()
        if task is None or record.name.split(".")[0] in ("punctual", "httpx", "httpcore"):
            return
        try:
            task.log(self.format(record))
        except Exception:
            self.handleError(record)

    @property
    def _is_alone(self) -> bool:
        return logging.getLogger().handlers == [self]


def attach(level: int) -> None:
    """Adds the handler to the root logger, once. A program that has set up logging keeps its own levels."""
    root = logging.getLogger()
    if any(isinstance(handler, TaskLog) for handler in root.handlers):
        return
    if not root.handlers:
        root.setLevel(level)
        # It tells every request at this level.
        logging.getLogger("httpx").setLevel(logging.WARNING)
    root.addHandler(TaskLog(level))
