# SPDX-License-Identifier: BSD-3-Clause
"""JSON schemas of docs/, by a check of the keywords that they use."""

TYPES = {"object": dict, "array": list, "string": str, "null": type(None), "boolean": bool, "integer": int}


def is_of_type(value, kind):
    if kind == "number":
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    return isinstance(value, TYPES[kind]) and not (kind == "integer" and isinstance(value, bool))


def violations(value, schema, whole, path):
    """Yields where a value breaks a schema, of the keywords that the schemas in docs/ use."""
    known = {"$schema", "title", "description", "definitions", "$ref", "type", "properties", "required",
             "additionalProperties", "items", "anyOf", "enum", "const"}
    assert set(schema) <= known, set(schema) - known
    if "$ref" in schema:
        yield from violations(value, whole["definitions"][schema["$ref"].rpartition("/")[2]], whole, path)
    if "anyOf" in schema and all(list(violations(value, each_of, whole, path)) for each_of in schema["anyOf"]):
        yield f"{path}: matches none of anyOf"
    kinds = schema.get("type", [])
    if kinds and not any(is_of_type(value, kind) for kind in ([kinds] if isinstance(kinds, str) else kinds)):
        yield f"{path}: {value!r} is no {kinds}"
    if value not in schema.get("enum", [value]) or value != schema.get("const", value):
        yield f"{path}: {value!r}"
    if isinstance(value, dict):
        yield from (f"{path}: no {name}" for name in schema.get("required", []) if name not in value)
        for name, member in value.items():
            other = schema.get("additionalProperties", True)
            of_member = schema.get("properties", {}).get(name, other)
            if of_member is False:
                yield f"{path}: {name}"
            elif of_member is not True:
                yield from violations(member, of_member, whole, f"{path}/{name}")
    if isinstance(value, list):
        for place, member in enumerate(value):
            yield from violations(member, schema.get("items", {}), whole, f"{path}/{place}")
