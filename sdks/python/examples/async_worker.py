"""The same on asyncio: a hundred tasks at a time, and pushes that gather into batches."""

import asyncio

from punctual import AsyncClient, Punctual, Task

app = Punctual()


@app.task("fetch", concurrency=100)
async def fetch(task: Task) -> int:
    await asyncio.sleep(0.01)
    return len(task.payload)


async def main() -> None:
    async with AsyncClient() as client:
        pushed = await asyncio.gather(*(client.push("fetch", f"page {n}") for n in range(20)))
        print(f"pushed {len(pushed)}")
    await app.run_async()


asyncio.run(main())
