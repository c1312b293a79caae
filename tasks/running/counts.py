"""What of a flow's result may be shown in Prefect.

Ids and counts may be shown, and nothing that could be a text.
"""

from __future__ import annotations

from collections.abc import Mapping

_WORDS = ("month", "model", "purpose", "similarity_model")


def compute_counts(result: object) -> dict[str, str]:
    """The ids and counts of a result, by name.

    A list counts its entries; a text is left out unless it is an id.
    """
    counts: dict[str, str] = {}
    if not isinstance(result, Mapping):
        return counts
    for name, value in result.items():
        if isinstance(value, bool | int | float):
            counts[str(name)] = str(value)
        elif isinstance(value, str) and (str(name).endswith("_id") or name in _WORDS):
            counts[str(name)] = value
        elif isinstance(value, Mapping):
            counts |= {f"{name}.{key}": text for key, text in compute_counts(value).items()}
        elif isinstance(value, list | tuple):
            counts[str(name)] = str(len(value))
    return counts


def render_counts(result: object) -> str:
    """The ids and counts on one line."""
    return ", ".join(f"{name} {value}" for name, value in compute_counts(result).items()) or "done"


def render_markdown(result: object) -> str:
    """The ids and counts as a table in Markdown."""
    rows = [f"| {name} | {value} |" for name, value in compute_counts(result).items()]
    return "\n".join(["| what | how many |", "|---|---|", *rows])
