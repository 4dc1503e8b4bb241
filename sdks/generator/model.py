"""The interface as the OpenAPI document describes it, in the form the writers of each language need.

A type is a tuple: ("any",), ("string",), ("number",), ("integer",), ("boolean",), ("null",), ("ref", name),
("list", type), ("map", type), ("union", types), ("enum", values), ("object", fields). This module reads; it
writes no code.
"""

from __future__ import annotations

import dataclasses
from typing import Any, Optional

Type = tuple  # see above

# Operations that an SDK writes by hand: a stream, and the document itself.
LEFT_OUT = {"events", "openapi"}
# Operations that must not be sent again after a lost answer: a repeat would have a second effect.
ONCE = {"run_plan", "skip_plan", "move_clock"}


@dataclasses.dataclass
class Field:
    name: str
    type: Type
    is_required: bool
    doc: str


@dataclasses.dataclass
class Operation:
    id: str
    method: str
    path: str
    tag: str
    doc: str
    path_names: list[str]
    query: list[Field]
    headers: list[Field]
    # None: no body. ("any",): any JSON value. Else ("ref", name) of a schema with fields.
    body: Optional[Type]
    # "json", "text", "bytes" or "none", and the type of a JSON answer.
    answer: str
    returns: Optional[Type]
    is_repeated: bool


@dataclasses.dataclass
class Schema:
    name: str
    doc: str
    # Fields of an object; None for every other type.
    fields: Optional[list[Field]]
    type: Type


class Model:
    def __init__(self, document: dict[str, Any]) -> None:
        self.version: str = document["info"]["version"]
        self._raw: dict[str, Any] = document["components"]["schemas"]
        self.schemas = {name: self._schema(name) for name in sorted(self._raw)}
        self.operations = [
            self._operation(path, method, operation)
            for path, methods in sorted(document["paths"].items())
            for method, operation in sorted(methods.items())
            if method != "parameters" and operation["operationId"] not in LEFT_OUT
        ]

    def fields_of(self, type_: Type) -> Optional[list[Field]]:
        return self.schemas[type_[1]].fields if type_[0] == "ref" else None

    def _schema(self, name: str) -> Schema:
        raw = self._raw[name]
        doc = raw.get("description", "")
        generic, _, item = name.partition("_")
        if generic in ("Page", "Batch") and item:
            # The document writes these out; what they list is a schema with a name of its own.
            of = ("ref", item) if item in self._raw else ("string",)
            if generic == "Page":
                text = ("union", (("string",), ("null",)))
                fields = [Field("items", ("list", of), True, ""), Field("next", text, True, "")]
            else:
                fields = [Field("tasks", ("list", of), True, "")]
            return Schema(name, doc, fields, ("object",))
        fields = self._fields(raw)
        return Schema(name, doc, fields, ("object",) if fields else self._type(raw))

    def _fields(self, raw: dict[str, Any]) -> Optional[list[Field]]:
        if "$ref" in raw:
            return self._fields(self._raw[raw["$ref"].rsplit("/", 1)[-1]])
        if "allOf" in raw:
            return [field for part in raw["allOf"] for field in self._fields(part) or []]
        if "properties" not in raw:
            return None
        required = set(raw.get("required", []))
        return [
            Field(name, self._type(of), name in required, of.get("description", ""))
            for name, of in sorted(raw["properties"].items())
        ]

    def _type(self, raw: Any) -> Type:
        if raw is True or not raw:
            return ("any",)
        if "$ref" in raw:
            name = raw["$ref"].rsplit("/", 1)[-1]
            return ("any",) if name == "AnyJson" else ("ref", name)
        if "allOf" in raw and len(raw["allOf"]) == 1:
            return self._type(raw["allOf"][0])
        for key in ("oneOf", "anyOf"):
            if key in raw:
                return union(tuple(self._type(part) for part in raw[key]))
        if "const" in raw:
            return ("enum", (raw["const"],))
        if "enum" in raw:
            values = tuple(value for value in raw["enum"] if value is not None)
            enum = ("enum", values)
            return union((enum, ("null",))) if len(values) < len(raw["enum"]) else enum
        kinds = raw.get("type")
        if kinds is None:
            return ("any",)
        kinds = kinds if isinstance(kinds, list) else [kinds]
        return union(tuple(self._plain(kind, raw) for kind in kinds))

    def _plain(self, kind: str, raw: dict[str, Any]) -> Type:
        if kind == "array":
            return ("list", self._type(raw.get("items", {})))
        if kind == "object":
            if "properties" in raw:
                return ("object", tuple((f.name, f.type, f.is_required) for f in self._fields(raw) or []))
            values = raw.get("additionalProperties")
            return ("map", self._type(values) if isinstance(values, dict) else ("any",))
        return (kind,)

    def _operation(self, path: str, method: str, raw: dict[str, Any]) -> Operation:
        parameters = raw.get("parameters", [])

        def of(place: str) -> list[Field]:
            return [
                Field(p["name"], self._type(p["schema"]), p.get("required", False), p.get("description", ""))
                for p in parameters
                if p["in"] == place
            ]

        answer, returns = self._answer(raw["responses"])
        return Operation(
            id=raw["operationId"],
            method=method.upper(),
            path=path,
            tag=(raw.get("tags") or [""])[0],
            doc=raw.get("summary", ""),
            path_names=[field.name for field in of("path")],
            query=of("query"),
            headers=of("header"),
            body=self._body(raw),
            answer=answer,
            returns=returns,
            is_repeated=raw["operationId"] not in ONCE,
        )

    def _body(self, raw: dict[str, Any]) -> Optional[Type]:
        content = raw.get("requestBody", {}).get("content", {})
        schema = next((it.get("schema", {}) for it in content.values()), None)
        if schema is None:
            return None
        body = self._type(schema)
        while body[0] == "ref" and self.schemas[body[1]].fields is None:
            inner = self.schemas[body[1]].type
            if inner[0] == "map":
                return None  # an object without fields: nothing is to be said
            if inner[0] == "union":
                # One thing or a batch of them: batches have a method of their own.
                inner = next(t for t in inner[1] if t[0] == "ref" and not t[1].startswith("Batch_"))
            body = inner
        return body

    def _answer(self, responses: dict[str, Any]) -> tuple[str, Optional[Type]]:
        for status in ("201", "200", "202", "204"):
            if status not in responses:
                continue
            content = responses[status].get("content", {})
            if not content:
                return "none", None
            kind, media = next(iter(content.items()))
            if kind == "application/json":
                return "json", self._type(media.get("schema", {}))
            return ("text" if kind.startswith("text/") else "bytes"), None
        raise ValueError("an operation without a successful answer")


def union(types: tuple) -> Type:
    """A union without repetitions; of one type, that type."""
    flat: list[Type] = []
    for type_ in types:
        for part in type_[1] if type_[0] == "union" else (type_,):
            if part not in flat:
                flat.append(part)
    if ("any",) in flat:
        return ("any",)
    return flat[0] if len(flat) == 1 else ("union", tuple(flat))


def text_of(type_: Type) -> str:
    """A type in one line, for the record of the interface that later documents are compared with."""
    kind = type_[0]
    if kind == "list":
        return text_of(type_[1]) + "[]"
    if kind == "map":
        return "{" + text_of(type_[1]) + "}"
    if kind == "union":
        return "|".join(sorted(text_of(part) for part in type_[1]))
    if kind == "enum":
        return "|".join(sorted(repr(value) for value in type_[1]))
    if kind == "ref":
        return type_[1]
    if kind == "object" and len(type_) > 1:
        return "{" + ",".join(f"{name}{'' if must else '?'}:{text_of(of)}" for name, of, must in type_[1]) + "}"
    return kind
