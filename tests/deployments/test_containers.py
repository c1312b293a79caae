"""The image is built by podman, and every service of the compose file runs."""

from __future__ import annotations

import os
import shutil
import socket
import ssl
import subprocess
import time
from collections.abc import Callable, Iterator
from http.client import HTTPSConnection
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.deployments import bare

ROOT = Path(__file__).parents[2]
SERVER = ROOT / "deployments/server"
HERE = Path(__file__).parent / "containers"
NEEDED = ("podman", "podman-compose", "runc", "debootstrap", "netavark", "aardvark-dns", "catatonit")
IMAGES = {"postgres": ["start-postgresql"], "objects": ["start-objects"], "bucket": ["true"]}
# Not the machine's highest limits: who runs the tests may not be allowed to raise any.
_CONFIGURATION = """
[containers]
default_ulimits = ["nofile=4096:4096", "nproc=8192:8192"]
[engine]
cgroup_manager = "cgroupfs"
runtime = "runc"
tmp_dir = "{run}/libpod"
[network]
network_backend = "netavark"
network_config_dir = "{storage}/networks"
"""
_STORAGE = """
[storage]
driver = "overlay"
graphroot = "{storage}"
runroot = "{run}"
"""


class Podman:
    """Podman and podman-compose with configuration and storage of their own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._storage, self._run = folder / "storage", folder / "run"
        for name, text in (("containers.conf", _CONFIGURATION), ("storage.conf", _STORAGE)):
            (folder / name).write_text(text.format(storage=self._storage, run=self._run))
        self._environment = os.environ | {
            "CONTAINERS_CONF": str(folder / "containers.conf"),
            "CONTAINERS_STORAGE_CONF": str(folder / "storage.conf"),
        }
        self.compose_file = folder / "tree/deployments/server/compose.yaml"

    def run(self, *words: str, timeout: float = 1800) -> str:
        done = subprocess.run(
            words,
            env=self._environment,
            cwd=self._folder,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )
        assert done.returncode == 0, f"{' '.join(words)}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
        return done.stdout + done.stderr

    def build(self, tag: str, folder: Path, *options: str) -> None:
        """Build an image in the network of this machine, whatever networks of containers it has."""
        self.run("podman", "build", "-q", "--network", "host", "-t", tag, *options, str(folder))

    def up(self, *services: str) -> None:
        """Start services alone.

        Where no systemd runs, podman does not ask for their health, so the test waits for what they need.
        """
        self.run(
            "podman-compose", "-f", str(self.compose_file), "up", "-d", "--no-deps", "--no-build", *services
        )

    def exec(self, service: str, *words: str) -> str:
        return self.run("podman", "exec", f"server_{service}_1", *words)

    def await_end(self, service: str) -> None:
        code = self.run("podman", "wait", f"server_{service}_1").strip().splitlines()[-1]
        assert code == "0", self.run("podman", "logs", f"server_{service}_1")[-3000:]

    def remove(self) -> None:
        """End every container and take all that was made away again."""
        for words in (["rm", "-f", "-a", "-t", "5"], ["network", "prune", "-f"], ["rmi", "-f", "-a"]):
            subprocess.run(["podman", *words], env=self._environment, capture_output=True, check=False)
        for folder in (self._storage, self._run):
            subprocess.run(["umount", "-R", folder / "overlay"], capture_output=True, check=False)
            shutil.rmtree(folder, ignore_errors=True)

    def answers(self, service: str, *words: str) -> bool:
        try:
            self.exec(service, *words)
        except AssertionError:
            return False
        return True


def await_that(is_so: Callable[[], bool], seconds: float = 300) -> None:
    deadline = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(1)


def write_tree(podman: Podman, folder: Path) -> None:
    """Write the source as a checkout has it, with a compose file.

    The compose file's public images are ours of Debian's packages.
    """
    bare.copy_tree(ROOT, folder / "tree")
    compose: dict[str, Any] = yaml.safe_load(podman.compose_file.read_text())
    for name, words in IMAGES.items():
        compose["services"][name] |= {"image": "localhost/proctor-parts", "entrypoint": words, "command": []}
    compose["services"]["objects"]["env_file"] = ["owner.env"]
    proxy = compose["services"]["proxy"]
    proxy |= {"image": "localhost/proctor-parts", "ports": ["127.0.0.1:18443:443"]}
    proxy["entrypoint"] = ["caddy", "run", "--config", "/etc/caddy/Caddyfile"]
    podman.compose_file.write_text(yaml.safe_dump(compose, sort_keys=False))


def build_images(podman: Podman, folder: Path) -> None:
    base = bare.make_root(folder)
    podman.run("tar", "-C", str(base), "-cf", "base.tar", ".")
    podman.run("podman", "import", "base.tar", "localhost/proctor-debian")
    python = folder / "python"
    python.mkdir()
    certificates = "/etc/ssl/certs/ca-certificates.crt"
    (python / "Dockerfile").write_text(
        "FROM localhost/proctor-debian\n"
        "RUN apt-get update -q && apt-get install -qy --no-install-recommends python3-venv && python3 -m venv /opt/python\n"
        f"ENV PATH=/opt/python/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin PIP_CERT={certificates}\n"
        f"COPY ca-certificates.crt {certificates}\n"
    )
    shutil.copyfile(certificates, python / "ca-certificates.crt")
    podman.build("localhost/proctor-python", python)
    sources = [word for one in bare.list_sources() for word in ("-v", f"{one}:{one}:ro")]
    podman.build(
        "localhost/proctor", folder / "tree", "--build-arg", "BASE=localhost/proctor-python", *sources,
        # PyTorch's own index lies outside; the machine's package index gives what it has.
        "--build-arg", "TORCH_BACKEND=", "-f", str(folder / "tree/deployments/server/Dockerfile"),
    )  # fmt: skip
    parts = folder / "parts"
    shutil.copytree(HERE, parts)
    shutil.copy(bare.HERE / "systemctl", parts)
    shutil.copy(SERVER / "objects", parts)
    podman.build("localhost/proctor-parts", parts, "--build-arg", "BASE=localhost/proctor-debian")


@pytest.fixture
def podman(tmp_path: Path) -> Iterator[Podman]:
    places = ("/usr/lib/podman", "/usr/libexec/podman")
    missing = [
        one
        for one in NEEDED
        if shutil.which(one, path=os.pathsep.join([os.environ["PATH"], *places])) is None
    ]
    if missing:
        pytest.skip(f"containers need {', '.join(missing)}; {bare.HOW_TO_INSTALL}")
    if lacking := bare.find_missing():
        pytest.skip(f"containers need {lacking}")
    made = Podman(tmp_path)
    try:
        write_tree(made, tmp_path)
        build_images(made, tmp_path)
        yield made
    finally:
        made.remove()


@pytest.mark.long
@pytest.mark.service
def test_the_image_is_built_and_every_service_of_the_compose_file_runs(
    podman: Podman, tmp_path: Path
) -> None:
    store = {
        "AWS_ENDPOINT_URL": "http://objects:8080",
        "AWS_ACCESS_KEY_ID": "proctor:lake",
        "AWS_SECRET_ACCESS_KEY": "QZXW-of-the-store",
    }
    subprocess.run(
        [str(tmp_path / "tree/deployments/server/make-secrets")],
        env=os.environ | store,
        check=True,
        capture_output=True,
    )
    podman.up("postgres", "objects")
    await_that(lambda: podman.answers("postgres", "pg_isready", "-U", "postgres"))
    await_that(lambda: "with the bucket proctor" in podman.run("podman", "logs", "server_objects_1"))
    podman.up("prepare")
    podman.await_end("prepare")

    podman.up("prefect")
    ready = "import urllib.request as r; r.urlopen('http://127.0.0.1:4200/api/ready')"
    await_that(lambda: podman.answers("prefect", "python", "-c", ready))
    # Its folder belongs to it: leases of places are files there.
    podman.exec("prefect", "touch", "/var/lib/proctor-prefect/mine")
    podman.up("deploy")
    podman.await_end("deploy")
    podman.up("exam-key")
    podman.await_end("exam-key")
    podman.up("worker", "exam", "web", "proxy")

    def ask(host: str, path: str) -> int:
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        connection = HTTPSConnection(host, context=context)
        # The name is this test's alone: the proxy is asked by it where it listens.
        plain = socket.create_connection(("127.0.0.1", 18443), timeout=10)
        connection.sock = context.wrap_socket(plain, server_hostname=host)
        try:
            connection.request("GET", path)
            return connection.getresponse().status
        finally:
            connection.close()

    def is_up(host: str, path: str) -> bool:
        try:
            return ask(host, path) < 400
        except OSError:
            return False

    await_that(lambda: is_up("exam.localhost", "/health"))
    await_that(lambda: is_up("desk.localhost", "/"))
    for number in (1, 2):
        await_that(
            lambda number=number: "started!" in podman.run("podman", "logs", f"server_worker_{number}")  # type: ignore[misc]
        )
    # A flow runs on a worker, and its lines are seen from another container.
    started = podman.exec("web", "proctor", "runs", "start", "checks", "--on-worker", "--json")
    assert "flow_run_id" in started
    await_that(lambda: "completed" in podman.exec("web", "proctor", "runs", "list", "--flow", "checks"))
    (name,) = {
        line.split()[0]
        for line in podman.exec("web", "proctor", "runs", "list").splitlines()
        if "checks" in line
    }
    assert "checks" in podman.exec("web", "proctor", "logs", name)
