"""The API's description as a page from its OpenAPI schema: one file, no scripts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from fastapi.responses import HTMLResponse
from jinja2 import Environment

_PAGE = Path(__file__).with_name("reference.html.j2")
_METHODS = ("get", "post", "put", "patch", "delete")


def add_reference_page(app: FastAPI) -> None:
    """Serve the page at `/docs`. It is made once; whoever opens it loads nothing else."""
    text = render_reference(app.openapi())

    @app.get("/docs", include_in_schema=False)
    async def show_reference() -> HTMLResponse:
        return HTMLResponse(
            text,
            headers={
                "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'",
                "X-Content-Type-Options": "nosniff",
            },
        )


def render_reference(schema: dict[str, Any]) -> str:
    """The page of an OpenAPI schema; every text in it is escaped."""
    operations = [
        _describe_operation(path, method, item[method])
        for path, item in schema["paths"].items()
        for method in _METHODS
        if method in item
    ]
    bodies = [(name, _describe_body(item)) for name, item in sorted(schema["components"]["schemas"].items())]
    page = Environment(autoescape=True).from_string(_PAGE.read_text("utf-8"))
    return page.render(
        title=schema["info"]["title"],
        summary=schema["info"].get("summary", ""),
        operations=operations,
        bodies=bodies,
    )


def _describe_operation(path: str, method: str, item: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": item["operationId"],
        "method": method.upper(),
        "path": path,
        "about": item.get("description", item.get("summary", "")),
        "needs_token": bool(item.get("security")),
        "parameters": [
            {
                "name": one["name"],
                "in": one["in"],
                "required": one.get("required", False),
                "form": _name_form(one.get("schema", {})),
            }
            for one in item.get("parameters", ())
        ],
        "body": _find_schema(item.get("requestBody", {})),
        "replies": [
            {"status": status, "about": reply.get("description", ""), "schema": _find_schema(reply)}
            for status, reply in item["responses"].items()
        ],
    }


def _describe_body(item: dict[str, Any]) -> dict[str, Any]:
    needed = set(item.get("required", ()))
    return {
        "about": item.get("description", ""),
        "fields": [
            {"name": name, "required": name in needed, "form": _name_form(form)}
            for name, form in item.get("properties", {}).items()
        ],
        "text": json.dumps(item, indent=2, ensure_ascii=False),
    }


def _find_schema(holder: dict[str, Any]) -> str:
    """The name of the schema of a body; empty without one."""
    for media in holder.get("content", {}).values():
        reference = media.get("schema", {}).get("$ref", "")
        if reference:
            return str(reference).rpartition("/")[2]
    return ""


def _name_form(form: dict[str, Any]) -> str:
    """A schema in a few words: `integer, at least 1`, `text or null`."""
    if "$ref" in form:
        return str(form["$ref"]).rpartition("/")[2]
    if "anyOf" in form:
        return " or ".join(_name_form(part) for part in form["anyOf"])
    words = [str(form.get("type", "any"))]
    if words == ["array"]:
        words = [f"list of {_name_form(form.get('items', {}))}"]
    if "enum" in form:
        words.append("one of " + ", ".join(map(str, form["enum"])))
    for name, word in (
        ("minimum", "at least"),
        ("maximum", "at most"),
        ("minLength", "shortest"),
        ("maxLength", "longest"),
    ):
        if name in form:
            words.append(f"{word} {form[name]:g}")
    return ", ".join(words)
