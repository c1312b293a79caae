"""Files of the lake in an object store: DuckDB is given the credentials for one connection."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit

from schemas.asked_secrets import AskedSecret
from warehouse.lake.duck import duckdb
from warehouse.lake.quoting import quote_text

# Options of DuckDB's secret by the settings that its extension makes of the variables AWS_*.
_CREDENTIALS: Final = {
    "KEY_ID": "s3_access_key_id",
    "SECRET": "s3_secret_access_key",
    "SESSION_TOKEN": "s3_session_token",
}


def create_s3_secret(connection: duckdb.DuckDBPyConnection, environment: Mapping[str, str]) -> None:
    """Give DuckDB the object store's credentials (AWS_* or programs) for this connection."""
    connection.execute(render_s3_secret(environment))
    # The extension has taken the same variables as settings, which every query may ask for; the secret is shown to none.
    for setting in _CREDENTIALS.values():
        connection.execute(f"SET {setting} = ''")


def render_s3_secret(environment: Mapping[str, str], *, is_shown: bool = False) -> str:
    """The statement that gives DuckDB the credentials; one to be shown does not hold them.

    It takes what the extension has read from the variables of whoever runs it.
    """
    options = {"TYPE": "s3", "PROVIDER": "config"}
    for option, setting in _CREDENTIALS.items():
        if value := environment.get(f"AWS_{setting.removeprefix('s3_').upper()}"):
            options[option] = (
                f"current_setting('{setting}')"
                if is_shown
                else quote_text(AskedSecret(value).get_secret_value())
            )
    if region := environment.get("AWS_REGION"):
        options["REGION"] = quote_text(region)
    if endpoint := environment.get("AWS_ENDPOINT_URL"):
        parts = urlsplit(endpoint)
        options["ENDPOINT"] = quote_text(parts.netloc + parts.path.rstrip("/"))
        options["URL_STYLE"] = "'path'"
        options["USE_SSL"] = "false" if parts.scheme == "http" else "true"
    body = ", ".join(f"{option} {value}" for option, value in options.items())
    return f"CREATE OR REPLACE TEMPORARY SECRET lake ({body})"
