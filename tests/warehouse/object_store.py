"""An S3-compatible object store on this machine, in memory, for tests."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock
from urllib.request import Request, urlopen

BUCKET = "exam-lake"
SECRET = "QZXW-SECRET-OF-THE-STORE"


class ObjectStore:
    """A store that can be stopped, and started again where it was with what it held."""

    def __init__(self) -> None:
        self._port = 0
        self.start()
        self.client().create_bucket(Bucket=BUCKET)

    def start(self) -> None:
        from moto.server import ThreadedMotoServer

        logging.getLogger("werkzeug").setLevel(logging.ERROR)
        self._server = ThreadedMotoServer(ip_address="127.0.0.1", port=self._port, verbose=False)
        self._server.start()
        self._port = self._server.get_host_and_port()[1]

    def stop(self) -> None:
        self._server.stop()

    def forget(self) -> None:
        """Drop what it holds, which the process keeps for any later store."""
        self.start()
        urlopen(Request(f"http://127.0.0.1:{self._port}/moto-api/reset", method="POST")).close()
        self.stop()

    @property
    def variables(self) -> dict[str, str]:
        """What a process needs in its environment to reach it."""
        return {
            "AWS_ACCESS_KEY_ID": "proctor",
            "AWS_SECRET_ACCESS_KEY": SECRET,
            "AWS_REGION": "us-east-1",
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{self._port}",
        }

    def client(self) -> Any:
        """A client of boto3, which makes its classes when it is asked."""
        import boto3

        return boto3.client(
            "s3",
            endpoint_url=self.variables["AWS_ENDPOINT_URL"],
            region_name="us-east-1",
            aws_access_key_id="proctor",
            aws_secret_access_key=SECRET,
        )

    def list_keys(self, prefix: str = "") -> list[str]:
        pages = self.client().get_paginator("list_objects_v2").paginate(Bucket=BUCKET, Prefix=prefix)
        return [found["Key"] for page in pages for found in page.get("Contents", [])]


@contextmanager
def start_object_store() -> Iterator[ObjectStore]:
    """A store of the caller's own.

    This process and those that it starts know its credentials meanwhile.
    """
    store = ObjectStore()
    try:
        with mock.patch.dict(os.environ, store.variables):
            yield store
    finally:
        store.stop()
        store.forget()
