"""Libraries that take long to import: loaded when something of them is first used."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__all__ = ["Lazy", "alt", "np", "pl"]


class Lazy:
    """A module that is imported when its first name is asked for."""

    def __init__(self, module: str) -> None:
        self.__name__ = module

    def __getattr__(self, name: str) -> Any:
        """The module's own; kept here, so that it is asked for once."""
        found = getattr(import_module(self.__name__), name)
        setattr(self, name, found)
        return found


if TYPE_CHECKING:
    import altair as alt
    import numpy as np
    import polars as pl
else:
    alt, np, pl = Lazy("altair"), Lazy("numpy"), Lazy("polars")
