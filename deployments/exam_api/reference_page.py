"""The API's description as a page from its OpenAPI schema: one file, no scripts."""

from __future__ import annotations

import json
from typing import Any

from fastapi import FastAPI
from fastapi.responses import HTMLResponse
from jinja2 import Environment

_METHODS = ("get", "post", "put", "patch", "delete")

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{{ title }}</title>
<style>
body { font: 16px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 62rem; padding: 1.5rem; color: #1a1a1a; background: #fff; }
h2 { border-top: 1px solid #ccc; padding-top: 1rem; } code, pre { font: 14px/1.45 ui-monospace, monospace; }
pre { background: #f4f4f4; padding: .75rem; overflow-x: auto; } table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; border-bottom: 1px solid #ddd; padding: .3rem .8rem .3rem 0; }
.method { display: inline-block; min-width: 4rem; font-weight: 700; } summary { cursor: pointer; }
@media (prefers-color-scheme: dark) { body { color: #e6e6e6; background: #161616; } pre { background: #242424; } }
</style>
</head>
<body>
<h1>{{ title }}</h1>
<p>{{ summary }} The same for programs: <a href="openapi.json"><code>openapi.json</code></a>.</p>
<ul>{% for one in operations %}<li><a href="#{{ one.id }}"><code>{{ one.method }} {{ one.path }}</code></a></li>{% endfor %}</ul>
{% for one in operations %}
<h2 id="{{ one.id }}"><span class="method">{{ one.method }}</span> <code>{{ one.path }}</code></h2>
<p>{{ one.about }}{% if one.needs_token %} Needs a token.{% endif %}</p>
{% if one.parameters %}<table><tr><th>parameter</th><th>in</th><th>form</th></tr>
{% for item in one.parameters %}<tr><td><code>{{ item.name }}</code>{% if item.required %} (needed){% endif %}</td><td>{{ item.in }}</td>\
<td>{{ item.form }}</td></tr>{% endfor %}</table>{% endif %}
{% if one.body %}<p>Body: <a href="#{{ one.body }}"><code>{{ one.body }}</code></a></p>{% endif %}
<table><tr><th>reply</th><th></th><th></th></tr>{% for item in one.replies %}<tr><td>{{ item.status }}</td><td>{{ item.about }}</td>\
<td>{% if item.schema %}<a href="#{{ item.schema }}"><code>{{ item.schema }}</code></a>{% endif %}</td></tr>{% endfor %}</table>
{% endfor %}
<h2>Bodies</h2>
{% for name, item in bodies %}
<h3 id="{{ name }}"><code>{{ name }}</code></h3><p>{{ item.about }}</p>
<table><tr><th>field</th><th>form</th></tr>{% for field in item.fields %}<tr><td><code>{{ field.name }}</code>\
{% if field.required %} (needed){% endif %}</td><td>{{ field.form }}</td></tr>{% endfor %}</table>
<details><summary>JSON schema</summary><pre>{{ item.text }}</pre></details>
{% endfor %}
</body>
</html>
"""


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
    page = Environment(autoescape=True).from_string(_PAGE)
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
