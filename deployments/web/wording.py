"""The words of the web pages in the reader's language (wording.yaml).

This also decides which language that is.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from importlib import resources
from types import MappingProxyType

import yaml
from starlette.requests import Request

from tasks.review import LANGUAGES, Language

LANGUAGE_COOKIE = "proctor_language"


@lru_cache(maxsize=1)
def read_wording() -> Mapping[str, Mapping[str, str]]:
    """Each word in both languages, by its name."""
    text = resources.files("deployments.web").joinpath("wording.yaml").read_text("utf-8")
    loaded = yaml.safe_load(text)
    # YAML reads the names `true` and `false` as values.
    return MappingProxyType({str(name).lower(): words for name, words in loaded.items()})


def say(name: str, language: Language, /, **parts: object) -> str:
    """The words of that name with the parts put in; an unknown name raises KeyError."""
    return read_wording()[name][language].format(**parts)


def choose_language(request: Request) -> Language:
    """What the reader chose, else what their browser asks for first of the two, else English."""
    chosen = request.cookies.get(LANGUAGE_COOKIE)
    asked = [part.split(";")[0].strip()[:2] for part in request.headers.get("accept-language", "").split(",")]
    return next((one for name in (chosen, *asked) for one in LANGUAGES if one == name), "en")
