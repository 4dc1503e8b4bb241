"""The record of the interface: what the SDKs were written for, as JSON that is easy to compare.

A newer server may offer more than the record has. Everything in the record must still be there.
"""

from __future__ import annotations

from typing import Any

from model import Model, text_of


def record(model: Model) -> dict[str, Any]:
    operations = {}
    for it in model.operations:
        operations[it.id] = {
            "call": f"{it.method} {it.path}",
            "query": {field.name: text_of(field.type) for field in it.query},
            "headers": sorted(field.name for field in it.headers),
            "body": text_of(it.body) if it.body else None,
            "returns": text_of(it.returns) if it.returns else it.answer,
        }
    schemas: dict[str, Any] = {}
    for name, schema in model.schemas.items():
        if schema.fields is None:
            schemas[name] = text_of(schema.type)
        else:
            schemas[name] = {
                field.name: ("" if field.is_required else "?") + text_of(field.type) for field in schema.fields
            }
    return {"operations": operations, "schemas": schemas}


def missing(known: Any, found: Any, place: str = "") -> list[str]:
    """Lists entries of the known record that the found one lacks; a choice may have got further values."""
    if isinstance(known, dict):
        if not isinstance(found, dict):
            return [f"{place}: was an object, is {found}"]
        problems = []
        for key, value in known.items():
            if key not in found:
                problems.append(f"{place}/{key}: is no longer there")
            else:
                problems += missing(value, found[key], f"{place}/{key}")
        return problems
    if isinstance(known, list):
        return [f"{place}: {item} is no longer there" for item in known if item not in found]
    if known == found or (isinstance(known, str) and isinstance(found, str) and widened(known, found)):
        return []
    return [f"{place}: was {known}, is {found}"]


def widened(known: str, found: str) -> bool:
    return set(known.lstrip("?").split("|")) <= set(found.lstrip("?").split("|"))


def added(known: Any, found: Any, place: str = "") -> list[str]:
    """Lists entries of the found record that the known one lacks."""
    if not (isinstance(known, dict) and isinstance(found, dict)):
        return []
    more = [f"{place}/{key}" for key in found if key not in known]
    return more + [name for key in known if key in found for name in added(known[key], found[key], f"{place}/{key}")]
