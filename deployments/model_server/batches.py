"""Files and batches as OpenAI has them.

A file of requests goes in, and a file of replies comes out, in its own time. A request of a batch is answered
exactly as it would be singly. With a folder, files and batches outlive the server.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

from aiohttp import web

from deployments.model_server.profile import BatchTraits, draw_uniform
from deployments.model_server.wire import build_error, refuse

Batch = dict[str, Any]
# Status and body of one request; null for one whose reply is lost.
Completer = Callable[[dict[str, Any]], tuple[int, dict[str, Any]] | None]

_LIST_LENGTH = 20
_OPEN = ("validating", "in_progress", "cancelling")


class BatchDesk:
    """Files and batches of one server; `created` counts batches: who pays twice creates two."""

    def __init__(self, traits: BatchTraits, complete: Completer, folder: Path | None = None) -> None:
        self.traits = traits
        self.created = 0
        self._complete = complete
        self._folder = folder
        self._files: dict[str, bytes] = {}
        self._batches: dict[str, Batch] = {}
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
            self._files = {path.stem: path.read_bytes() for path in sorted(folder.glob("file-*.jsonl"))}
            found = [json.loads(path.read_text()) for path in folder.glob("batch_*.json")]
            self._batches = {batch["id"]: batch for batch in sorted(found, key=lambda one: one["created_at"])}
            self.created = len(self._batches)

    @property
    def file_count(self) -> int:
        """Files that the server holds: nobody else deletes them."""
        return len(self._files)

    def list_batches(self) -> list[Batch]:
        """All batches as they stand, oldest first."""
        return list(self._batches.values())

    def serves(self, path: str) -> bool:
        """Whether a request's path is one of files or batches."""
        return "/v1/files" in path or "/v1/batches" in path

    async def answer(self, request: web.BaseRequest) -> web.StreamResponse:
        """Serve one HTTP request."""
        kind, *rest = request.path.partition("/v1/")[2].strip("/").split("/")
        match (request.method, kind, rest):
            case ("POST", "files", []):
                return await self._take_file(request)
            case ("GET", "files", [name, "content"]) if name in self._files:
                return web.Response(body=self._files[name], content_type="application/jsonl")
            case ("DELETE", "files", [name]) if name in self._files:
                del self._files[name]
                if self._folder is not None:
                    (self._folder / f"{name}.jsonl").unlink(missing_ok=True)
                return web.json_response({"id": name, "object": "file", "deleted": True})
            case ("POST", "batches", []):
                return await self._create(request)
            case ("GET", "batches", []):
                return await self._list(request)
            case ("GET", "batches", [name]) if name in self._batches:
                return web.json_response(await self._look_at(name))
            case ("POST", "batches", [name, "cancel"]) if name in self._batches:
                return web.json_response(self._cancel(name))
        return refuse(404, "not_found")

    async def _take_file(self, request: web.BaseRequest) -> web.Response:
        content: bytes | None = None
        purpose, name = "", "unnamed"
        reader = await request.multipart()
        async for part in reader:
            if getattr(part, "name", None) == "purpose":
                purpose = await part.text()  # type: ignore[union-attr]
            elif getattr(part, "name", None) == "file":
                name = part.filename or name  # type: ignore[union-attr]
                content = bytes(await part.read())  # type: ignore[union-attr]
        if content is None or purpose != "batch":
            return refuse(400, "invalid_request")
        file_id = self._keep_file(content)
        return web.json_response(
            {
                "id": file_id,
                "object": "file",
                "bytes": len(content),
                "created_at": int(time.time()),
                "filename": name,
                "purpose": "batch",
                "status": "processed",
            }
        )

    async def _create(self, request: web.BaseRequest) -> web.Response:
        try:
            asked = json.loads(await request.read())
            file_id, metadata = asked["input_file_id"], asked.get("metadata") or {}
            is_known = file_id in self._files and asked["endpoint"] == "/v1/chat/completions"
        except (ValueError, KeyError, TypeError):
            return refuse(400, "invalid_request")
        if not is_known or asked.get("completion_window") != "24h":
            return refuse(400, "invalid_request")
        lines = [line for line in self._files[file_id].splitlines() if line.strip()]
        number, self.created = self.created, self.created + 1
        fate = "completed"
        if number < self.traits.failed:
            fate = "failed"
        elif number < self.traits.failed + self.traits.expired:
            fate = "expired"
        batch: Batch = {
            "id": f"batch_{uuid4().hex}",
            "object": "batch",
            "endpoint": asked["endpoint"],
            "input_file_id": file_id,
            "completion_window": "24h",
            "status": "validating",
            "created_at": time.time(),
            "metadata": metadata,
            "request_counts": {"total": len(lines), "completed": 0, "failed": 0},
            "output_file_id": None,
            "error_file_id": None,
            "errors": None,
            "fate": fate,
        }
        self._keep(batch)
        return web.json_response(_show(batch))

    async def _list(self, request: web.BaseRequest) -> web.Response:
        """The batches, newest first, `limit` at a time, from after the one named."""
        names = list(reversed(self._batches)) if self.traits.is_listed else []
        after = request.query.get("after")
        if after in names:
            names = names[names.index(after) + 1 :]
        limit = int(request.query.get("limit", _LIST_LENGTH))
        some = [await self._look_at(name) for name in names[:limit]]
        return web.json_response({"object": "list", "data": some, "has_more": len(names) > limit})

    async def _look_at(self, name: str) -> Batch:
        """The batch as it stands now: its work is done when somebody looks after its time."""
        batch = self._batches[name]
        if batch["status"] in _OPEN:
            if batch["status"] == "cancelling":
                self._end(batch, "cancelled", share_done=0.5)
            elif batch["fate"] == "failed":
                batch["errors"] = {
                    "object": "list",
                    "data": [{"code": "token_limit_exceeded", "message": ""}],
                }
                self._keep(batch | {"status": "failed"})
            elif time.time() >= batch["created_at"] + self.traits.seconds:
                share = 0.5 if batch["fate"] == "expired" else 1.0
                # A large batch must not hold up those who ask singly, and is worked on once.
                batch["status"] = "finalizing"
                await asyncio.to_thread(self._end, batch, batch["fate"], share_done=share)
            else:
                batch["status"] = "in_progress"
        return _show(self._batches[name])

    def _cancel(self, name: str) -> Batch:
        batch = self._batches[name]
        if batch["status"] in _OPEN:
            self._keep(batch | {"status": "cancelling"})
        return _show(self._batches[name])

    def _end(self, batch: Batch, status: str, *, share_done: float) -> None:
        """Answer the requests of a batch, the first share of them, and write its two files."""
        requests = [
            json.loads(line) for line in self._files[batch["input_file_id"]].splitlines() if line.strip()
        ]
        count = round(len(requests) * share_done)
        done: list[bytes] = []
        errors: list[bytes] = []
        for request in requests[:count]:
            self._answer_line(request, done, errors)
        error = {"code": f"batch_{status}", "message": "This request was not executed."}
        errors += [_write_line(request["custom_id"], None, error) for request in requests[count:]]
        if self.traits.is_shuffled:
            random.Random(batch["id"]).shuffle(done)
        self._keep(
            batch
            | {
                "status": status,
                "output_file_id": self._keep_file(b"".join(done)) if done else None,
                "error_file_id": self._keep_file(b"".join(errors)) if errors else None,
                "request_counts": {"total": len(requests), "completed": len(done), "failed": len(errors)},
            }
        )

    def _answer_line(self, request: dict[str, Any], done: list[bytes], errors: list[bytes]) -> None:
        custom_id, traits = str(request["custom_id"]), self.traits

        def meets(fault: str, share: float) -> bool:
            return share > 0 and draw_uniform("batches", fault, custom_id) < share

        if meets("refused", traits.refused):
            errors.append(_write_line(custom_id, (400, build_error("invalid_request")), None))
            return
        reply = self._complete(request["body"])
        if reply is None or meets("missing", traits.missing):
            return
        line = _write_line(custom_id, reply, None)
        if reply[0] >= 400:
            errors.append(line)
            return
        done += [line] * (2 if meets("doubled", traits.doubled) else 1)
        if meets("garbage", traits.garbage):
            done += [b'{"custom_id": "\n', _write_line("nobody", reply, None), b"[1]\n"]

    def _keep_file(self, content: bytes) -> str:
        file_id = f"file-{hashlib.blake2b(content, digest_size=6).hexdigest()}{uuid4().hex[:12]}"
        self._files[file_id] = content
        if self._folder is not None:
            (self._folder / f"{file_id}.jsonl").write_bytes(content)
        return file_id

    def _keep(self, batch: Batch) -> None:
        self._batches[batch["id"]] = batch
        if self._folder is not None:
            (self._folder / f"{batch['id']}.json").write_text(json.dumps(batch))


def _show(batch: Batch) -> Batch:
    shown = {name: value for name, value in batch.items() if name != "fate"}
    return shown | {"created_at": int(batch["created_at"])}


def _write_line(
    custom_id: str, reply: tuple[int, dict[str, Any]] | None, error: dict[str, str] | None
) -> bytes:
    response = None
    if reply is not None:
        response = {"status_code": reply[0], "request_id": f"req_{uuid4().hex}", "body": reply[1]}
    line = {"id": f"batch_req_{uuid4().hex}", "custom_id": custom_id, "response": response, "error": error}
    return json.dumps(line, ensure_ascii=False).encode() + b"\n"
