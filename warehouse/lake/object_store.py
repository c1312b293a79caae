"""The object store's credentials, as DuckDB is given them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    import duckdb


def create_s3_secret(connection: duckdb.DuckDBPyConnection, environment: Mapping[str, str]) -> None:
    """Give DuckDB the object store's credentials for this connection only, from the usual AWS_* variables."""
    connection.execute(render_s3_secret(environment))


def render_s3_secret(environment: Mapping[str, str]) -> str:
    """The statement that gives them, from the usual AWS_* variables; it holds the secret."""
    options = {"TYPE": "s3", "PROVIDER": "config"}
    for option, variable in (
        ("KEY_ID", "AWS_ACCESS_KEY_ID"),
        ("SECRET", "AWS_SECRET_ACCESS_KEY"),
        ("SESSION_TOKEN", "AWS_SESSION_TOKEN"),
        ("REGION", "AWS_REGION"),
    ):
        if value := environment.get(variable):
            options[option] = _quote(value)
    if endpoint := environment.get("AWS_ENDPOINT_URL"):
        parts = urlsplit(endpoint)
        options["ENDPOINT"] = _quote(parts.netloc + parts.path.rstrip("/"))
        options["URL_STYLE"] = "'path'"
        options["USE_SSL"] = "false" if parts.scheme == "http" else "true"
    body = ", ".join(f"{option} {value}" for option, value in options.items())
    return f"CREATE OR REPLACE TEMPORARY SECRET lake ({body})"


def _quote(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
