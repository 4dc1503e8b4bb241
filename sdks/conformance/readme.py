"""Checks that the READMEs and the docs show the workers that the SDKs' own tests run, and runs the one in Rust."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
LANGUAGES = {"python": "python", "typescript": "ts", "go": "go", "java": "java"}
PAGES = ["README.md", "README.zh-CN.md", "docs/sdks.md", "docs/sdks.zh-CN.md"]
RUST = ROOT / "crates/client/examples/mail.rs"
LINES_MAX = 14


def blocks(file: Path, fence: str) -> list[str]:
    return re.findall(rf"^```{fence}\n(.*?)^```", file.read_text(), re.DOTALL | re.MULTILINE)


def problems() -> list[str]:
    expected = {fence: blocks(ROOT / f"sdks/{language}/README.md", fence)[0] for language, fence in LANGUAGES.items()}
    expected["rust"] = RUST.read_text().split("\n\n", 1)[1]
    found = []
    for fence, program in expected.items():
        if len(program.strip().splitlines()) > LINES_MAX:
            found.append(f"the worker in {fence} has more than {LINES_MAX} lines")
        for page in PAGES:
            if program not in blocks(ROOT / page, fence):
                found.append(f"{page} does not show the worker of the SDK's README in {fence}")
    return found


def ask(url: str, body: object = None) -> dict:
    data = None if body is None else json.dumps(body).encode()
    method = "PUT" if url.endswith("/mail") else None
    with urllib.request.urlopen(urllib.request.Request(url, data, method=method), timeout=30) as answer:
        return json.load(answer)


def run_rust() -> list[str]:
    cargo = os.environ.get("CARGO", "cargo")
    subprocess.run([cargo, "build", "--quiet", "--locked", "--workspace", "--example", "mail"], cwd=ROOT, check=True)
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    command = [os.environ["PUNCTUAL_BIN"], "serve", "--listen", "127.0.0.1:0", "--store", "memory:"]
    with tempfile.TemporaryDirectory() as directory:
        server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=directory, text=True)
        worker = None
        try:
            url = server.stdout.readline().split()[-1]
            ask(f"{url}/v1/queues/mail", {"keep": {"done": "1h"}})
            ask(f"{url}/v1/queues/mail/tasks", {"id": "m", "payload": {"to": "ada"}})
            worker = subprocess.Popen([target / "debug/examples/mail"], env={**os.environ, "PUNCTUAL_URL": url})
            result = None
            for _ in range(200):
                result = ask(f"{url}/v1/queues/mail/tasks/m")["result"]
                if result is not None:
                    break
                time.sleep(0.1)
            worker.send_signal(signal.SIGINT)
            if worker.wait(20) != 0:
                return ["a signal ends the worker in rust gracefully"]
            return [] if result == "sent to ada" else [f"the worker in rust answered {result}"]
        finally:
            for process in filter(None, (worker, server)):
                process.kill()
                process.wait()


found = problems() or run_rust()
for problem in found:
    print(problem)
sys.exit(1 if found else 0)
