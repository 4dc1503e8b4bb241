"""Writes the TypeScript SDK's types and its methods."""

from __future__ import annotations

import re
import textwrap

from model import Model, Operation, Type

HEADER = "// {doc}\n//\n// Written by `sdks/generate` from /openapi.json: change nothing here by hand.\n\n"
WIDTH = 110
KEY = "Idempotency-Key"


def files(model: Model) -> dict[str, str]:
    return {"sdks/typescript/src/types.ts": types(model), "sdks/typescript/src/api.ts": api(model)}


def class_name(name: str) -> str:
    generic, _, item = name.partition("_")
    return f"{item}{generic}" if item else name


def camel(name: str) -> str:
    return re.sub(r"[_-](\w)", lambda it: it.group(1).upper(), name[0].lower() + name[1:])


def ts_type(type_: Type, prefix: str = "") -> str:
    kind = type_[0]
    if kind == "ref":
        return prefix + class_name(type_[1])
    if kind == "list":
        inner = ts_type(type_[1], prefix)
        return f"({inner})[]" if " | " in inner else f"{inner}[]"
    if kind == "map":
        return f"Record<string, {ts_type(type_[1], prefix)}>"
    if kind == "enum":
        return " | ".join(f'"{value}"' if isinstance(value, str) else str(value) for value in type_[1])
    if kind == "union":
        return " | ".join(ts_type(part, prefix) for part in type_[1])
    if kind == "object":
        if len(type_) == 1:
            return "Record<string, unknown>"
        return "{ " + "; ".join(f'"{n}"{"" if m else "?"}: {ts_type(t, prefix)}' for n, t, m in type_[1]) + " }"
    return {"any": "any", "string": "string", "number": "number", "integer": "number", "boolean": "boolean", "null": "null"}[kind]


def doc(text: str, indent: str = "") -> str:
    lines = textwrap.wrap(" ".join(text.split()).replace("*/", "* /"), WIDTH - len(indent))
    if not lines:
        return ""
    if len(lines) == 1:
        return f"{indent}/** {lines[0]} */\n"
    return f"{indent}/**\n" + "".join(f"{indent} * {line}\n" for line in lines) + f"{indent} */\n"


def types(model: Model) -> str:
    out = [HEADER.format(doc="Types of requests and answers.")]
    for schema in model.schemas.values():
        name = class_name(schema.name)
        if schema.fields is None:
            if schema.type != ("ref", schema.name):
                out.append(doc(schema.doc) + f"export type {name} = {ts_type(schema.type)};\n\n")
            continue
        out.append(doc(schema.doc) + f"export interface {name} {{\n")
        for field in schema.fields:
            mark = "" if field.is_required else "?"
            out.append(doc(field.doc, "  ") + f"  {field.name}{mark}: {ts_type(field.type)};\n")
        out.append("}\n\n")
    return "".join(out).rstrip() + "\n"


def api(model: Model) -> str:
    out = [HEADER.format(doc="Every operation of the server, a method each.")]
    out.append('import { Transport, path } from "./transport.js";\nimport type * as t from "./types.js";\n\n')
    out.append("/** Every operation of the server, a method each. */\nexport class Api extends Transport {\n")
    out.append("\n".join(method(model, operation) for operation in model.operations))
    return "".join(out) + "}\n"


def method(model: Model, it: Operation) -> str:
    arguments = [f"{camel(name)}: string" for name in it.path_names]
    parts = []
    fields = model.fields_of(it.body) if it.body else None
    if it.body == ("any",):
        arguments.append("payload: unknown")
        parts.append("body: payload")
    elif fields is not None:
        default = "" if any(field.is_required for field in fields) else " = {}"
        arguments.append(f"body: {ts_type(it.body, 't.')}{default}")
        parts.append("body")
    options = it.query + it.headers
    if options:
        members = "; ".join(f"{camel(f.name)}{'' if f.is_required else '?'}: {ts_type(f.type, 't.')}" for f in options)
        arguments.append(f"options: {{ {members} }}" + ("" if any(f.is_required for f in options) else " = {}"))
    if it.query:
        parts.append("query: { " + ", ".join(f"{f.name}: options.{camel(f.name)}" for f in it.query) + " }")
    if it.headers:
        parts.append("headers: { " + ", ".join(f'"{f.name.lower()}": options.{camel(f.name)}' for f in it.headers) + " }")
    if any(field.name == KEY for field in it.headers):
        parts.append("isKeyed: true")
    if not it.is_repeated:
        parts.append("isRepeated: false")
    returns = {"none": "void", "text": "string", "bytes": "Uint8Array"}.get(it.answer) or ts_type(it.returns, "t.")
    names = ", ".join(camel(name) for name in it.path_names)
    where = f'path("{it.path}", {names})' if it.path_names else f'"{it.path}"'
    run = {"json": f"json<{returns}>", "none": "none", "text": "text", "bytes": "bytes"}[it.answer]
    call = f'{{ method: "{it.method}", path: {where}' + "".join(f", {part}" for part in parts) + " }"
    head = f"  {camel(it.id)}({', '.join(arguments)}): Promise<{returns}> {{\n"
    return doc(it.doc, "  ") + head + f"    return this.{run}({call});\n  }}\n"
