"""Files of the lake in an object store: DuckDB is given the credentials for one connection."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from schemas.asked_secrets import AskedSecret
from warehouse.lake.quoting import quote_text

if TYPE_CHECKING:
    import duckdb


def create_s3_secret(connection: duckdb.DuckDBPyConnection, environment: Mapping[str, str]) -> None:
    """Give DuckDB the object store's credentials (AWS_* or programs) for this connection."""
    connection.execute(render_s3_secret(environment))
    # The extension has taken the same variables as settings, which every query may ask for; the secret is shown to none.
    for setting in ("s3_access_key_id", "s3_secret_access_key", "s3_session_token"):
        connection.execute(f"SET {setting} = ''")


def render_s3_secret(environment: Mapping[str, str]) -> str:
    """The statement that gives DuckDB the credentials; it holds them."""
    options = {"TYPE": "s3", "PROVIDER": "config"}
    for option, variable in (
        ("KEY_ID", "AWS_ACCESS_KEY_ID"),
        ("SECRET", "AWS_SECRET_ACCESS_KEY"),
        ("SESSION_TOKEN", "AWS_SESSION_TOKEN"),
        ("REGION", "AWS_REGION"),
    ):
        if value := environment.get(variable):
            options[option] = quote_text(AskedSecret(value).get_secret_value())
    if endpoint := environment.get("AWS_ENDPOINT_URL"):
        parts = urlsplit(endpoint)
        options["ENDPOINT"] = quote_text(parts.netloc + parts.path.rstrip("/"))
        options["URL_STYLE"] = "'path'"
        options["USE_SSL"] = "false" if parts.scheme == "http" else "true"
    body = ", ".join(f"{option} {value}" for option, value in options.items())
    return f"CREATE OR REPLACE TEMPORARY SECRET lake ({body})"
