"""Receives deliveries and verifies who sent them; WSGI, so that any server can run it."""

import os
from typing import Any, Callable, Dict, Iterable, List, Tuple

from punctual import WebhookError, verify

SECRET = os.environ.get("WEBHOOK_SECRET", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
Start = Callable[[str, List[Tuple[str, str]]], Any]


def application(environ: Dict[str, Any], start_response: Start) -> Iterable[bytes]:
    body: bytes = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
    headers = {name[5:].replace("_", "-"): value for name, value in environ.items() if name.startswith("HTTP_")}
    try:
        delivery = verify(body, headers, SECRET)
    except WebhookError as error:
        start_response("401 Unauthorized", [])
        return [str(error).encode()]
    print(f"delivery {delivery}: {body.decode()}")
    start_response("204 No Content", [])
    return []
