"""Writes the Java SDK's types and its methods."""

from __future__ import annotations

import re
import textwrap

from model import Field, Model, Operation, Type

HEADER = "// Written by sdks/generate from /openapi.json: change nothing here by hand.\n\npackage dev.punctual.api;\n\n"
WIDTH = 110
KEY = "Idempotency-Key"
# Words that no method can have for its name: those of the language, of Object, and of JsonObject.
KEYWORDS = set(
    "abstract assert boolean break byte case catch char class const continue default do double else enum extends final "
    "finally float for goto if implements import instanceof int interface long native new package private protected "
    "public return short static strictfp super switch synchronized this throw throws transient try void volatile while "
    "true false null var yield record wait notify notifyAll getClass hashCode toString equals clone finalize members "
    "get".split()
)
# Names that types of the language or of this SDK have.
RESERVED = {"Object", "String", "Long", "Double", "Boolean", "List", "Map", "Instant", "Record", "Enum", "Types", "Operations",
            "Transport", "Call", "Json", "JsonObject", "Integer", "Override", "Process", "Thread", "Module", "System", "Runtime",
            "Number", "Error", "Exception", "Package", "Iterable", "Character", "Byte", "Short", "Float", "Void", "Math", "Class"}
BOXED = {"string": "String", "number": "Double", "integer": "Long", "boolean": "Boolean"}
BARE = {"number": "double", "integer": "long", "boolean": "boolean"}


def files(model: Model) -> dict[str, str]:
    folder = "sdks/java/src/main/java/dev/punctual/api/"
    writer = Writer(model)
    return {folder + "Types.java": writer.types(), folder + "Operations.java": writer.operations()}


def words(name: str) -> list[str]:
    return [word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+", name)]


def pascal(name: str) -> str:
    return "".join(word[0].upper() + word[1:] for word in words(name))


def camel(name: str) -> str:
    text = pascal(name)
    text = text[0].lower() + text[1:]
    return text + "_" if text in KEYWORDS else text


def class_name(name: str) -> str:
    generic, _, item = name.partition("_")
    name = pascal(item) + generic if item else pascal(name)
    return name + "Type" if name in RESERVED else name


def doc(text: str, indent: str) -> str:
    text = " ".join(text.split()).replace("*/", "* /").replace("&", "&amp;").replace("<", "&lt;").replace("@", "&#64;")
    lines = textwrap.wrap(text, WIDTH - len(indent))
    if not lines:
        return ""
    if len(lines) == 1:
        return f"{indent}/** {lines[0]} */\n"
    return f"{indent}/**\n" + "".join(f"{indent} * {line}\n" for line in lines) + f"{indent} */\n"


class Writer:
    def __init__(self, model: Model) -> None:
        self.model = model

    def resolved(self, type_: Type) -> Type:
        """A type without null, and without names of plain types: ("class", name), ("enum", name) or a plain one."""
        if type_[0] == "union":
            parts = [part for part in type_[1] if part != ("null",)]
            return self.resolved(parts[0]) if len(parts) == 1 else ("any",)
        if type_[0] == "ref":
            schema = self.model.schemas[type_[1]]
            if type_[1] == "Time":
                return ("time",)
            if schema.fields is not None:
                return ("class", class_name(type_[1]))
            if schema.type[0] == "enum" and all(isinstance(value, str) for value in schema.type[1]):
                return ("enum", class_name(type_[1]))
            if schema.type[0] == "union" and all(part[0] == "ref" and self.model.fields_of(part) for part in schema.type[1]):
                return ("class", class_name(max(schema.type[1], key=lambda part: len(self.model.fields_of(part)))[1]))
            return self.resolved(schema.type)
        if type_[0] == "enum":
            return ("string",)
        return type_ if type_[0] in BOXED or type_[0] in ("list", "map") else ("any",)

    def java_type(self, type_: Type, prefix: str = "") -> str:
        of = self.resolved(type_)
        if of[0] in ("class", "enum"):
            return prefix + of[1]
        if of[0] == "list":
            return f"List<{self.java_type(of[1], prefix)}>"
        if of[0] == "map":
            return f"Map<String, {self.java_type(of[1], prefix)}>"
        return "Instant" if of[0] == "time" else BOXED.get(of[0], "Object")

    def reading(self, type_: Type, depth: int = 0, of: str = "", by: str = "") -> str:
        """A function that makes a value of JSON one of its type. Functions inside it need other names. `of` and `by` stand
        before names of types and of functions, where those are not at hand."""
        it, name = self.resolved(type_), f"it{depth or ''}"
        if it[0] == "class":
            return f"{name} -> new {of}{it[1]}({by}asMembers({name}))"
        if it[0] == "enum":
            return f"{name} -> {of}{it[1]}.of((String) {name})"
        if it[0] in ("list", "map"):
            function = "asList" if it[0] == "list" else "asMap"
            return f"{name} -> {by}{function}({name}, {self.reading(it[1], depth + 1, of, by)})"
        function = {"string": "String::valueOf", "integer": "JsonObject::asLong", "number": "JsonObject::asDouble",
                    "boolean": "Boolean.class::cast", "time": "JsonObject::asTime"}
        return function.get(it[0], f"{name} -> {name}")

    # Types.

    def types(self) -> str:
        text = HEADER + "import java.time.Instant;\nimport java.util.List;\nimport java.util.Map;\n\n"
        text += doc("The types of requests and answers. A field that was not set is left out of a request; one that was set to "
                    "null is sent as null.", "") + "public final class Types {\n    private Types() {}\n"
        for schema in self.model.schemas.values():
            if schema.fields is not None:
                text += "\n" + self._class(schema)
            elif self.resolved(("ref", schema.name))[0] == "enum":
                text += "\n" + self._enum(schema)
        return text + "}\n"

    def _enum(self, schema) -> str:
        name = class_name(schema.name)
        text = doc(schema.doc, "    ") + f"    public enum {name} implements JsonObject.Text {{\n"
        for value in schema.type[1]:
            text += f'        {"_".join(words(value)).upper()}("{value}"),\n'
        text += "        /** A value that this version does not know. */\n        OTHER(null);\n\n"
        text += f"        private final String text;\n\n        {name}(String text) {{\n            this.text = text;\n        }}\n\n"
        text += "        @Override\n        public String text() {\n            return text;\n        }\n\n"
        text += f"        static {name} of(String text) {{\n            return JsonObject.valueOf(values(), OTHER, text);\n        }}\n"
        return text + "    }\n"

    def _class(self, schema) -> str:
        name = class_name(schema.name)
        text = doc(schema.doc or name, "    ") + f"    public static final class {name} extends JsonObject {{\n"
        text += f"        public {name}() {{}}\n\n"
        text += f"        public {name}(Map<String, Object> members) {{\n            super(members);\n        }}\n\n"
        text += doc("Adds a member that this version does not know.", "        ")
        text += f"        public {name} also(String name, Object value) {{\n            set(name, value);\n            return this;\n        }}\n"
        for field in schema.fields:
            text += "\n" + self._field(name, field)
        return text + "    }\n"

    def _field(self, owner: str, field: Field) -> str:
        name, of = camel(field.name), self.resolved(field.type)
        is_null = not field.is_required or (field.type[0] == "union" and ("null",) in field.type[1])
        type_ = self.java_type(field.type)
        bare = BARE.get(of[0], type_)
        got = type_ if is_null else bare
        text = doc(field.doc, "        ")
        absent = {"long": ", 0L", "double": ", 0.0", "boolean": ", false"}.get(got, "")
        text += f'        public {got} {name}() {{\n            return read("{field.name}", {self.reading(field.type)}{absent});\n        }}\n\n'
        text += doc(field.doc, "        ")
        text += f"        public {owner} {name}({type_} value) {{\n            set(\"{field.name}\", value);\n            return this;\n        }}\n"
        if of[0] == "integer":
            text += f"\n        public {owner} {name}(int value) {{\n            set(\"{field.name}\", value);\n            return this;\n        }}\n"
        return text

    # Operations.

    def operations(self) -> str:
        text = HEADER + "import java.time.Instant;\nimport java.util.List;\nimport java.util.Map;\n\n"
        text += "/** Every operation of the server, a method each. */\npublic class Operations extends Transport {\n"
        text += "    protected Operations(Options options) {\n        super(options);\n    }\n"
        for operation in self.model.operations:
            text += "\n" + self._operation(operation)
        return text + "}\n"

    def _operation(self, it: Operation) -> str:
        name, options = camel(it.id), it.query + it.headers
        path = [f"String {camel(part)}" for part in it.path_names]
        text, body = "", None
        if it.body == ("any",):
            body = ("Object payload", "payload", True)
        elif it.body and self.model.fields_of(it.body) is not None:
            fields = self.model.fields_of(it.body)
            type_ = self.java_type(it.body, "Types.")
            body = (f"{type_} body", f"new {type_}()", any(field.is_required for field in fields))
        holder = pascal(it.id) + "Options"
        if options:
            text += f"    /** Options of {name}. One that was not set is left out. */\n    public static final class {holder} extends JsonObject {{\n"
            setters = []
            for field in options:
                type_ = self.java_type(field.type, "Types.")
                for given in [type_, "int"] if type_ == "Long" else [type_]:
                    setters.append(doc(field.doc, "        ") + f"        public {holder} {camel(field.name)}({given} value) {{\n"
                                   f"            set(\"{field.name}\", value);\n            return this;\n        }}\n")
            text += "\n".join(setters) + "    }\n\n"
        result = self.java_type(it.returns, "Types.") if it.returns else ""
        returns = {"none": "void", "text": "String", "bytes": "byte[]"}.get(it.answer) or result
        names = "".join(f", {camel(part)}" for part in it.path_names)
        call = f'new Call("{it.method}", "{it.path}"{names})'
        if body:
            call += f".body({body[0].split()[1]})"
        if it.query:
            call += ".query(options, " + ", ".join(f'"{f.name}"' for f in it.query) + ")"
        if it.headers:
            call += ".headers(options, " + ", ".join(f'"{f.name}"' for f in it.headers) + ")"
        if any(field.name == KEY for field in it.headers):
            call += ".keyed()"
        if not it.is_repeated:
            call += ".once()"
        run = {"none": f"none({call})", "text": f"text({call})", "bytes": f"bytes({call})"}.get(it.answer)
        if not run and self.resolved(it.returns)[0] == "class":
            run = f"new {result}(json({call}))"
        elif not run:
            run = f"answer({call}, {self.reading(it.returns, of='Types.', by='JsonObject.')})"
        arguments = path + ([body[0]] if body else []) + ([f"{holder} options"] if options else [])
        described = doc(f"{it.doc or it.id} {it.method} {it.path}", "    ")
        back = "" if returns == "void" else "return "

        def method(arguments: list[str], line: str) -> str:
            return described + f"    public {returns} {name}({', '.join(arguments)}) {{\n        {back}{line};\n    }}\n"

        text += method(arguments, run)
        known = [argument.split()[1] for argument in path]
        if options:
            passed = known + ([body[0].split()[1]] if body else []) + [f"new {holder}()"]
            text += "\n" + method(arguments[:-1], f"{name}({', '.join(passed)})")
        if body and not body[2]:
            text += "\n" + method(path, f"{name}({', '.join(known + [body[1]])})")
        return text
