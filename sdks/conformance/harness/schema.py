"""Compares requests and answers with /openapi.json."""

from __future__ import annotations

import json
import re
from typing import Any, Optional
from urllib.parse import parse_qsl, urlsplit

from jsonschema import Draft202012Validator


class Document:
    """The document, ready to be asked whether an exchange is as it says."""

    def __init__(self, document: dict[str, Any]) -> None:
        self._components = document["components"]
        self._validators: dict[int, Draft202012Validator] = {}
        self._routes = []
        for template, methods in document["paths"].items():
            pattern = re.compile("^" + re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(template)) + "$")
            # Fixed paths go before those with places.
            self._routes.append((template.count("{"), pattern, methods))
        self._routes.sort(key=lambda route: route[0])

    def problems(self, method: str, target: str, body: bytes, status: int, kind: str, answer: bytes) -> list[str]:
        """Lists the problems of an exchange. A request that the server refused may be wrong on purpose; its answer not."""
        place = f"{method} {target}"
        url = urlsplit(target)
        operation = self._operation(method, url.path)
        if status >= 400:
            return self._wrong({"$ref": "#/components/schemas/Problem"}, answer, f"{place}: the refusal")
        if operation is None:
            return [f"{place}: no such operation in the document"]
        known = {it["name"] for it in operation.get("parameters", []) if it["in"] == "query"}
        problems = [f"{place}: no such parameter: {name}" for name, _ in parse_qsl(url.query) if name not in known]
        asked = _schema(operation.get("requestBody", {}))
        if asked is not None and body:
            problems += self._wrong(asked, body, f"{place}: the request")
        if str(status) not in operation["responses"]:
            return problems + [f"{place}: the document knows no answer {status}"]
        told = _schema(operation["responses"][str(status)])
        if told is not None and kind.startswith("application/json"):
            problems += self._wrong(told, answer, f"{place}: the answer")
        return problems

    def _operation(self, method: str, path: str) -> Optional[dict[str, Any]]:
        for _, pattern, methods in self._routes:
            if method.lower() in methods and pattern.match(path):
                operation: dict[str, Any] = methods[method.lower()]
                return operation
        return None

    def _wrong(self, schema: dict[str, Any], content: bytes, place: str) -> list[str]:
        try:
            value = json.loads(content)
        except ValueError:
            return [f"{place} is no JSON"]
        key = id(schema) if "$ref" not in schema else hash(schema["$ref"])
        if key not in self._validators:
            self._validators[key] = Draft202012Validator({**schema, "components": self._components})
        error = next(self._validators[key].iter_errors(value), None)
        if error is None:
            return []
        where = "/".join(str(part) for part in error.absolute_path)
        return [f"{place}, at /{where}: {error.message[:300]}"]


def _schema(holder: dict[str, Any]) -> Optional[dict[str, Any]]:
    content = holder.get("content", {}).get("application/json")
    return content.get("schema") if content else None
