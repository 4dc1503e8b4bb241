"""Writes the Go SDK's types and its methods, formatted as gofmt does."""

from __future__ import annotations

import re
import textwrap

from model import Field, Model, Operation, Type

HEADER = "// Written by sdks/generate from /openapi.json. DO NOT EDIT: change nothing here by hand.\n\npackage api\n\n"
WIDTH = 110
KEY = "Idempotency-Key"
INITIALISMS = {"id": "ID", "ids": "IDs", "url": "URL", "http": "HTTP", "dns": "DNS", "tls": "TLS", "json": "JSON"}
KEYWORDS = {"break", "case", "chan", "const", "default", "defer", "func", "go", "if", "import", "interface", "map",
            "package", "range", "return", "select", "struct", "switch", "type", "var", "ctx", "options", "body", "call"}
# Names that the hand-written part of the package has.
RESERVED = {"Client", "Call", "Pair", "Path", "Route", "Error", "NoAnswer", "Options", "Unreachable"}
PLAIN = {"string": "string", "number": "float64", "integer": "int", "boolean": "bool"}


def files(model: Model) -> dict[str, str]:
    return {"sdks/go/api/types.go": Writer(model).types(), "sdks/go/api/operations.go": Writer(model).operations()}


def pascal(name: str) -> str:
    words = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+", name)
    return "".join(INITIALISMS.get(word.lower(), word[0].upper() + word[1:].lower()) for word in words)


def type_name(name: str) -> str:
    generic, _, item = name.partition("_")
    name = pascal(item) + generic if item else pascal(name)
    return name + "Type" if name in RESERVED else name


def parameter(name: str) -> str:
    words = pascal(name)
    name = words.lower() if words.isupper() else words[0].lower() + words[1:]
    return name + "_" if name in KEYWORDS else name


def comment(text: str, indent: str = "") -> str:
    lines = textwrap.wrap(" ".join(text.split()), WIDTH - len(indent))
    return "".join(f"{indent}// {line}\n" for line in lines)


class Writer:
    def __init__(self, model: Model) -> None:
        self.model = model
        # Types that a request may carry: their optional fields are left out where they have no value.
        self.asked: set[str] = set()
        for operation in model.operations:
            if operation.body:
                self._reach(operation.body)

    def _reach(self, type_: Type) -> None:
        kind = type_[0]
        if kind == "ref" and type_[1] not in self.asked:
            self.asked.add(type_[1])
            schema = self.model.schemas[type_[1]]
            for part in [field.type for field in schema.fields or []] + ([] if schema.fields else [schema.type]):
                self._reach(part)
        elif kind in ("list", "map"):
            self._reach(type_[1])
        elif kind == "union":
            for part in type_[1]:
                self._reach(part)

    def _is_object(self, schema) -> bool:
        """Whether it is one of several objects, and nothing else."""
        return schema.type[0] == "union" and all(
            part[0] == "ref" and self.model.fields_of(part) for part in schema.type[1])

    # Types.

    def types(self) -> str:
        body = []
        for schema in self.model.schemas.values():
            if schema.fields is None:
                body.append(self._plain(schema))
            else:
                body.append(self._struct(schema))
        text = "\n".join(part for part in body if part)
        packages = [name for name in ("encoding/json", "time") if name.rsplit("/", 1)[-1] + "." in text]
        return HEADER + "import (\n" + "".join(f'\t"{name}"\n' for name in packages) + ")\n\n" + text

    def _plain(self, schema) -> str:
        name, kind = type_name(schema.name), schema.type[0]
        doc = comment(f"{name}: {schema.doc}" if schema.doc else f"{name} is a type of the interface.")
        if name == "Time":
            return doc + "type Time = time.Time\n"
        if kind == "enum" and all(isinstance(value, str) for value in schema.type[1]):
            taken = {type_name(other) for other in self.model.schemas}
            names = [name + pascal(value) for value in schema.type[1]]
            text = doc + f"type {name} string\n"
            for constant, value in zip(names, schema.type[1]):
                constant += "Value" if constant in taken else ""
                text += f'\n// {constant} is the {name} "{value}".\nconst {constant} {name} = "{value}"\n'
            return text
        if kind == "union" and set(schema.type[1]) == {("number",), ("string",)}:
            text = doc + f"type {name} string\n\n"
            text += f"// MarshalJSON writes a number as a number.\nfunc (v {name}) MarshalJSON() ([]byte, error) {{ return textOrNumber(string(v)) }}\n\n"
            text += f"// UnmarshalJSON reads text or a number.\nfunc (v *{name}) UnmarshalJSON(from []byte) error {{ return readText(from, (*string)(v)) }}\n"
            return text
        if self._is_object(schema):
            widest = max(schema.type[1], key=lambda part: len(self.model.fields_of(part) or []))
            return doc + f"type {name} = {type_name(widest[1])}\n"
        if kind in PLAIN:
            return doc + f"type {name} = {PLAIN[kind]}\n"
        if kind == "map":
            return doc + f"type {name} = map[string]any\n"
        return doc + f"type {name} = any\n"

    def _struct(self, schema) -> str:
        name, is_asked = type_name(schema.name), schema.name in self.asked
        text = comment(f"{name}: {schema.doc}" if schema.doc else f"{name} is a type of the interface.")
        text += f"type {name} struct {{\n"
        members = [self._member(field, is_asked) for field in schema.fields]
        if is_asked:
            members.append("\t// Also has further members, which are sent as they are: null, zero, or those of newer servers.\n"
                           '\tAlso map[string]any `json:"-"`\n')
        text += "\n".join(members) + "}\n"
        if is_asked:
            text += f"\n// MarshalJSON writes the fields that have a value, and Also.\nfunc (v {name}) MarshalJSON() ([]byte, error) {{\n"
            text += f"\ttype plain {name}\n\treturn withAlso(plain(v), v.Also)\n}}\n"
        return text

    def _member(self, field: Field, is_asked: bool) -> str:
        empty = "" if field.is_required else ",omitempty"
        of = self.go_type(field.type, is_asked, field.is_required)
        return comment(field.doc, "\t") + f'\t{pascal(field.name)} {of} `json:"{field.name}{empty}"`\n'

    def go_type(self, type_: Type, is_asked: bool, is_required: bool = True) -> str:
        kind = type_[0]
        any_ = "any" if is_asked else "json.RawMessage"
        if kind == "union":
            parts = [part for part in type_[1] if part != ("null",)]
            is_null = len(parts) < len(type_[1])
            return self.go_type(parts[0], is_asked, is_required and not is_null) if len(parts) == 1 else any_
        if kind == "list":
            return "[]" + self.go_type(type_[1], is_asked)
        if kind == "map":
            return "map[string]" + self.go_type(type_[1], is_asked)
        if kind == "ref":
            schema = self.model.schemas[type_[1]]
            if schema.fields is not None or self._is_object(schema) or type_[1] == "Time":
                return ("" if is_required else "*") + type_name(type_[1])
            if schema.type[0] == "union" and not set(schema.type[1]) == {("number",), ("string",)}:
                return type_name(type_[1]) if is_asked else any_
            is_number = schema.type[0] in ("number", "integer", "boolean")
            return ("*" if is_number and not is_required and not is_asked else "") + type_name(type_[1])
        if kind in PLAIN:
            is_pointer = kind != "string" and not is_required and not is_asked
            return ("*" if is_pointer else "") + PLAIN[kind]
        if kind == "enum":
            return "string" if all(isinstance(value, str) for value in type_[1]) else any_
        return any_

    # Operations.

    def operations(self) -> str:
        text = "".join("\n" + self._operation(operation) for operation in self.model.operations)
        packages = ["context", *(["encoding/json"] if "json." in text else [])]
        lines = "".join(f'\t"{name}"\n' for name in packages)
        return HEADER + (f"import (\n{lines})\n" if len(packages) > 1 else 'import "context"\n') + text

    def _operation(self, it: Operation) -> str:
        name = pascal(it.id)
        text, arguments, parts = "", ["ctx context.Context"], [f'Method: "{it.method}"']
        if it.path_names:
            arguments.append(", ".join(parameter(part) for part in it.path_names) + " string")
            parts.append(f'Path: Path("{it.path}", {", ".join(parameter(part) for part in it.path_names)})')
        else:
            parts.append(f'Path: Path("{it.path}")')
        if it.body == ("any",):
            arguments.append("payload any")
            parts.append("Body: payload")
        elif it.body and self.model.fields_of(it.body) is not None:
            arguments.append(f"body {type_name(it.body[1])}")
            parts.append("Body: body")
        options = it.query + it.headers
        lines = ""
        if options:
            text += f"// {name}Options are the options of {name}. A field without a value is left out.\ntype {name}Options struct {{\n"
            members = [comment(f.doc, "\t") + f"\t{pascal(f.name)} {self.go_type(f.type, True)}\n" for f in options]
            text += "\n".join(members) + "}\n\n"
            arguments.append(f"options ...{name}Options")
            lines = "\to := last(options)\n"
        for place, fields in (("Query", it.query), ("Headers", it.headers)):
            if fields:
                pairs = ", ".join(f'{{"{f.name}", o.{pascal(f.name)}}}' for f in fields)
                parts.append(f"{place}: []Pair{{{pairs}}}")
        if any(field.name == KEY for field in it.headers):
            parts.append("IsKeyed: true")
        if not it.is_repeated:
            parts.append("IsOnce: true")
        text += comment(f"{name} calls {it.method} {it.path}. {it.doc}")
        returns = {"none": "error", "text": "(string, error)", "bytes": "([]byte, error)"}.get(it.answer)
        result = self.go_type(it.returns, False) if it.returns else ""
        returns = returns or f"(*{result}, error)"
        run = {"none": "c.None", "text": "c.Text", "bytes": "c.Bytes"}.get(it.answer) or f"answer[{result}]"
        first = "ctx, c, " if it.answer == "json" else "ctx, "
        text += f"func (c *Client) {name}({', '.join(arguments)}) {returns} {{\n" + lines
        return text + f"\treturn {run}({first}Call{{{', '.join(parts)}}})\n}}\n"
