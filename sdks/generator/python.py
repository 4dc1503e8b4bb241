"""Writes the Python SDK's types and its methods, synchronous and for asyncio."""

from __future__ import annotations

import keyword
import textwrap

from model import Field, Model, Operation, Type

HEADER = '"""{doc}\n\nWritten by `sdks/generate` from /openapi.json: change nothing here by hand.\n"""\n\n'
WIDTH = 110
# The version's own header: an SDK makes one up where none is given, so that a repeat has no second effect.
KEY = "Idempotency-Key"


def files(model: Model) -> dict[str, str]:
    source = "sdks/python/src/punctual/"
    return {
        source + "types.py": types(model),
        source + "_api.py": api(model, is_async=False),
        source + "_api_async.py": api(model, is_async=True),
    }


def class_name(name: str) -> str:
    generic, _, item = name.partition("_")
    return f"{item}{generic}" if item else name


def python_type(type_: Type, prefix: str = "") -> str:
    kind = type_[0]
    if kind == "ref":
        return prefix + class_name(type_[1])
    if kind == "list":
        return f"List[{python_type(type_[1], prefix)}]"
    if kind == "map":
        return f"Dict[str, {python_type(type_[1], prefix)}]"
    if kind == "enum":
        return "Literal[" + ", ".join(json_literal(value) for value in type_[1]) + "]"
    if kind == "union":
        parts = [python_type(part, prefix) for part in type_[1] if part != ("null",)]
        inner = parts[0] if len(parts) == 1 else f"Union[{', '.join(parts)}]"
        return f"Optional[{inner}]" if ("null",) in type_[1] else inner
    if kind == "object":
        return "Dict[str, Any]"
    return {"any": "Any", "string": "str", "number": "float", "integer": "int", "boolean": "bool", "null": "None"}[kind]


def json_literal(value: object) -> str:
    return '"' + value + '"' if isinstance(value, str) else repr(value)


def doc_lines(text: str, indent: str, mark: str = "# ") -> list[str]:
    text = " ".join(text.split())
    return textwrap.wrap(text, WIDTH, initial_indent=indent + mark, subsequent_indent=indent + mark)


def types(model: Model) -> str:
    out = [HEADER.format(doc="Types of requests and answers.")]
    out.append("from __future__ import annotations\n\n")
    out.append("from typing import Any, Dict, List, Literal, Optional, TypedDict, Union\n")
    plain = [schema for schema in model.schemas.values() if schema.fields is None]
    # An alias is evaluated where it stands: those of plain types first, those of classes last.
    unions = [s for s in plain if s.type[0] == "union" and any(t[0] == "ref" for t in s.type[1])]
    for schema in plain:
        if schema not in unions and schema.type[0] != "ref":
            out.append("\n" + "".join(line + "\n" for line in doc_lines(schema.doc, "")))
            out.append(f"{class_name(schema.name)} = {python_type(schema.type)}\n")
    for schema in model.schemas.values():
        if schema.fields is not None:
            out.append("\n\n" + typed_dict(class_name(schema.name), schema.doc, schema.fields))
    for schema in unions:
        out.append("\n\n" + "".join(line + "\n" for line in doc_lines(schema.doc, "")))
        out.append(f"{class_name(schema.name)} = {python_type(schema.type)}\n")
    return "".join(out)


def typed_dict(name: str, doc: str, fields: list[Field]) -> str:
    if any(keyword.iskeyword(field.name) for field in fields):
        # Such names can only be written as strings.
        body = ", ".join(f'"{field.name}": "{python_type(field.type)}"' for field in fields)
        return f'{name} = TypedDict("{name}", {{{body}}})\n'
    required = [field for field in fields if field.is_required]
    optional = [field for field in fields if not field.is_required]
    text = ""
    base = "TypedDict"
    if required and optional:
        text += f"class _{name}(TypedDict):\n" + members(required) + "\n\n"
        base = f"_{name}"
    total = ", total=False" if optional else ""
    text += f"class {name}({base}{total}):\n"
    lines = doc_lines(doc or name, "    ", "")
    lines[0] = '    """' + lines[0].strip()
    text += "\n".join(lines) + ('"""\n' if len(lines) == 1 else '\n    """\n')
    rest = optional or required
    return text + ("\n" + members(rest) if rest else "")


def members(fields: list[Field]) -> str:
    out = []
    for field in fields:
        out += doc_lines(field.doc, "    ")
        out.append(f"    {field.name}: {python_type(field.type)}")
    return "\n".join(out) + "\n"


def api(model: Model, is_async: bool) -> str:
    name, transport = ("AsyncApi", "AsyncTransport") if is_async else ("Api", "Transport")
    module = "_transport_async" if is_async else "_transport"
    out = [HEADER.format(doc="Every operation of the server, a method each.")]
    out.append("from __future__ import annotations\n\n")
    out.append("from typing import Any, Dict, List, Literal, Optional, Union\n\n")
    out.append(f"from . import types as t\nfrom .{module} import {transport}\n")
    out.append("from ._wire import UNSET, Unset, Wire, path, wire\n\n\n")
    out.append(f'class {name}({transport}):\n    """Every operation of the server, a method each."""\n')
    for operation in model.operations:
        out.append("\n" + method(model, operation, is_async))
    return "".join(out)


def safe(name: str) -> str:
    name = name.lower().replace("-", "_")
    return name + "_" if keyword.iskeyword(name) else name


def method(model: Model, it: Operation, is_async: bool) -> str:
    positional, named, body = [f"{safe(n)}: str" for n in it.path_names], [], None
    fields = model.fields_of(it.body) if it.body else None
    if it.body == ("any",):
        positional.append("payload: Any = None")
        body = "payload"
    elif fields is not None:
        for field in sorted(fields, key=lambda field: not field.is_required):
            type_ = python_type(field.type, "t.")
            if field.is_required:
                named.append(f"{safe(field.name)}: {type_}")
            elif type_ == "Any":
                named.append(f"{safe(field.name)}: Any = UNSET")
            else:
                optional = type_ if type_.startswith("Optional[") else f"Optional[{type_}]"
                named.append(f"{safe(field.name)}: Union[{optional}, Unset] = UNSET")
        body = "{" + ", ".join(f'"{field.name}": {safe(field.name)}' for field in fields) + "}"
    for field in it.query + it.headers:
        type_ = python_type(field.type, "t.")
        if type_.startswith("Optional["):
            type_ = type_[len("Optional[") : -1]
        named.append(f"{safe(field.name)}: {type_}" + ("" if field.is_required else " | None = None").replace(" | None", ""))
    named = [
        n.replace(": ", ": Optional[", 1).replace(" = None", "] = None") if n.endswith(" = None") and "UNSET" not in n else n
        for n in named
    ]
    arguments = ["self", *positional, *(["*", *named] if named else [])]
    returns = {"none": "None", "text": "str", "bytes": "bytes"}.get(it.answer) or python_type(it.returns, "t.")
    route = it.path
    names = ", ".join(safe(name) for name in it.path_names)
    where = f'path("{route}", {names})' if it.path_names else f'"{route}"'
    parts = [f'"{it.method}"', where]
    if body:
        parts.append(f"body={body}")
    if it.query:
        parts.append("query={" + ", ".join(f'"{f.name}": {safe(f.name)}' for f in it.query) + "}")
    if it.headers:
        parts.append("headers={" + ", ".join(f'"{f.name}": {safe(f.name)}' for f in it.headers) + "}")
    if any(field.name == KEY for field in it.headers):
        parts.append("is_keyed=True")
    if not it.is_repeated:
        parts.append("is_repeated=False")
    prefix = "async " if is_async else ""
    wait = "await " if is_async else ""
    text = f"    {prefix}def {it.id}(\n        " + ",\n        ".join(arguments) + f",\n    ) -> {returns}:\n"
    lines = doc_lines(it.doc or it.id, "        ", "")
    lines[0] = '        """' + lines[0].strip()
    text += "\n".join(lines) + ('"""\n' if len(lines) == 1 else '\n        """\n')
    call = "wire(\n            " + ",\n            ".join(parts) + ",\n        )"
    text += f"        call: Wire = {call}\n"
    run = {"json": "_json", "none": "_none", "text": "_text", "bytes": "_bytes"}[it.answer]
    if it.answer == "none":
        text += f"        {wait}self.{run}(call)\n"
    elif it.answer == "json":
        text += f"        answer: {returns} = {wait}self.{run}(call)\n        return answer\n"
    else:
        text += f"        return {wait}self.{run}(call)\n"
    return text
