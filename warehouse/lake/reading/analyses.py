"""Named analyses of other packages.

They are folders of SQL files that `proctor sql NAME` runs beside our own. A file is one analysis, named by its stem and written
as those under `warehouse/sql/analyses` are: a header with the question that it answers, its grain and its parameters, and one
SELECT. A package brings its folder by the entry points `proctor.analyses`, as a path or what `importlib.resources.files` returns.
"""

from __future__ import annotations

from dataclasses import replace
from importlib.resources.abc import Traversable
from typing import Final

from schemas.errors import UsageError, suggest
from schemas.seams import OURS, Seam
from warehouse.lake.reading.queries import Query, list_queries, parse_query, read_queries

ANALYSES: Final[Seam[Traversable]] = Seam(
    "proctor.analyses",
    "folder of analyses",
    {"proctor": "warehouse.lake.reading.queries:ANALYSES_DIR"},
    needs=("iterdir",),
)


def find_query(name: str) -> Query:
    """The mart, analysis or check of that name, else another package's; UsageError with a list."""
    for kind in ("analyses", "marts", "checks"):
        if name in read_queries(kind):
            return read_queries(kind)[name]
    packaged = read_packaged_analyses()
    if name in packaged:
        return packaged[name]
    known = sorted([*read_queries("analyses"), *read_queries("marts"), *packaged])
    listed = f" The queries are {', '.join(known) or 'not installed'}."
    raise UsageError(f"There is no query {name!r}.{suggest(name, known) or listed}")


def list_runnable_queries() -> list[Query]:
    """All queries to run by name; UsageError where a package's name is taken."""
    ours, others = list_queries(), read_packaged_analyses()
    for name in sorted({query.name for query in ours} & set(others)):
        raise UsageError(
            f"{others[name].package} brings an analysis {name!r}, which is a name of Proctor's own: ours is used. Uninstall the "
            "package, or ask its author for another name."
        )
    return sorted([*ours, *others.values()], key=lambda query: query.name)


def read_packaged_analyses() -> dict[str, Query]:
    """The analyses of other packages by name; UsageError for an empty file or a name twice."""
    found: dict[str, Query] = {}
    for entry, folder in ANALYSES.load_all():
        if entry.package == OURS:
            continue
        for query in read_folder(folder, entry.package):
            if query.name in found:
                raise UsageError(
                    f"{found[query.name].package} and {entry.package} both bring an analysis {query.name!r}. Uninstall one of them."
                )
            found[query.name] = query
    return found


def read_folder(folder: Traversable, package: str) -> list[Query]:
    """The analyses of a folder, in order of name; UsageError for a file that holds no statement."""
    files = sorted(
        (file for file in folder.iterdir() if file.name.endswith(".sql")), key=lambda file: file.name
    )
    found = []
    for file in files:
        name = file.name.removesuffix(".sql")
        place = f"{package}, {file.name}"
        try:
            text = file.read_text("utf-8")
        except UnicodeDecodeError:
            raise UsageError(
                f"{place} is not UTF-8. Save it in that encoding, or uninstall the package."
            ) from None
        query = parse_query(name, "analyses", text, place=place)
        found.append(replace(query, package=package))
    return found
