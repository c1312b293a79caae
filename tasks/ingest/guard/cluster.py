"""Conversion on the workers of a cluster.

It is the same guarded child, on another host, working from the bytes of the paper.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from tasks.ingest.guard.client import ask
from tasks.running.cluster import Cluster


def ask_cluster(cluster: Cluster, request: dict[str, Any]) -> dict[str, Any]:
    """Hand a request to a worker with the files that it names: a worker may see no disk of ours."""
    options = request["options"]
    try:
        files = {
            "content": Path(request["content"] or request["path"]).read_bytes(),
            "companion": _read(options["companion"]),
            "answered": _read(options["answered"]),
            "mapping_file": _read(options["mapping_file"]),
        }
    except OSError:
        return ask(request)  # what cannot be read any more is reported in the same words as ever
    return cluster.compute(convert_there, request, files)


def convert_there(request: dict[str, Any], files: dict[str, bytes | None]) -> dict[str, Any]:
    """On a worker: convert the paper as at home.

    The files are put into a folder that is gone afterwards.
    """
    with tempfile.TemporaryDirectory(prefix="proctor-") as folder:
        places = {name: _put(Path(folder), name, request, data) for name, data in files.items()}
        options = request["options"] | {
            name: places[name] for name in ("companion", "answered", "mapping_file")
        }
        return ask(request | {"content": places["content"], "options": options})


def _put(folder: Path, name: str, request: dict[str, Any], data: bytes | None) -> str | None:
    """A file of its own name, by which it is told what it is; null where there is none."""
    if data is None:
        return None
    named = request["options"].get(name) if name != "content" else None
    place = folder / name / (Path(named).name if named else "content")
    place.parent.mkdir()
    place.write_bytes(data)
    return str(place)


def _read(path: str | None) -> bytes | None:
    return None if path is None else Path(path).read_bytes()
