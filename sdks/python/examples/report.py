"""A long task: progress, checkpoints, a stop in the middle, and log lines."""

import logging
from typing import List

from punctual import Punctual, Task

app = Punctual(grace=10)
log = logging.getLogger("report")


@app.task("report", concurrency=2)
def write(task: Task) -> str:
    pages: int = task.payload["pages"]
    done: List[int] = task.checkpoint or []
    for page in range(len(done), pages):
        task.check()  # Raises if the task was cancelled or paused, or the program stops.
        done.append(page)
        log.info("page %s is written", page)
        task.progress((page + 1) / pages, f"page {page + 1} of {pages}")
        task.save_checkpoint(done)
    return f"{len(done)} pages"


app.run()
