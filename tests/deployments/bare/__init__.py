"""Hosts of the server form: bare Debian roots with their own files, network, processes."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

HERE = Path(__file__).parent
BRIDGE = "prbr0"
GATEWAY = "10.77.31.254"
NETWORK = "10.77.31.0/24"
NEEDED = ("debootstrap", "unshare", "nsenter", "ip", "iptables", "mount")
HOW_TO_INSTALL = "as root on Debian, `bash .ci/packages long` installs it"
RULE = ["POSTROUTING", "-s", NETWORK, "!", "-d", NETWORK, "-j", "MASQUERADE"]

_START = """
set -e
mount --make-rprivate /
mount -t overlay overlay -o lowerdir={base},upperdir={folder}/upper,workdir={folder}/work {root}
mount -t proc proc {root}/proc
mount --rbind /sys {root}/sys
mount --rbind /dev {root}/dev
mount -t tmpfs tmpfs {root}/run
{binds}
hostname {name}
exec chroot {root} /bin/bash -c 'while :; do sleep 3600 & wait $!; done'
"""

_TRY = """
ip link add prtry0 type bridge && mkdir lower upper work root &&
mount -t overlay overlay -o lowerdir=lower,upperdir=upper,workdir=work root
"""


def find_missing() -> str:
    """What this machine lacks for bare hosts, in words; empty where it lacks nothing."""
    if os.geteuid() != 0:
        return "root"
    if missing := [name for name in NEEDED if shutil.which(name) is None]:
        return f"{', '.join(missing)}; {HOW_TO_INSTALL}"
    with tempfile.TemporaryDirectory() as folder:
        tried = subprocess.run(
            ["unshare", "--mount", "--uts", "--net", "--pid", "--fork", "bash", "-c", _TRY],
            cwd=folder, capture_output=True, text=True, check=False,
        )  # fmt: skip
    if tried.returncode == 0:
        return ""
    return f"a root that may make networks, and overlays in {tempfile.gettempdir()} ({tried.stderr.strip()})"


def find_sources() -> dict[str, list[str]]:
    """Folders of this machine that pip is set to take packages from, by the name of the setting."""
    told = run(sys.executable, "-m", "pip", "config", "list").stdout
    found: dict[str, list[str]] = {}
    for name, value in re.findall(r"\.(find-links|index-url|extra-index-url)=(.*)", told):
        paths = [Path(word.removeprefix("file://")) for word in value.strip("'").split()]
        # The links of an index lead to folders beside it.
        found.setdefault(name, []).extend(
            str(path if name == "find-links" else path.parent) for path in paths if path.is_dir()
        )
    return {name: sorted(set(paths)) for name, paths in found.items()}


def list_sources() -> list[str]:
    """All folders of `find_sources`."""
    return sorted({path for paths in find_sources().values() for path in paths})


def run(*words: str, **options: object) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(words, capture_output=True, text=True, check=False, **options)  # type: ignore[call-overload]
    assert done.returncode == 0, f"{' '.join(words)}\n{done.stdout[-3000:]}\n{done.stderr[-6000:]}"
    return done  # type: ignore[no-any-return]


def copy_tree(root: Path, folder: Path) -> None:
    """Copy a working tree as a checkout would have it."""
    listed = run("git", "ls-files", "-z", "-co", "--exclude-standard", cwd=root).stdout
    for name in listed.split("\0"):
        if name and (root / name).is_file():
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(root / name, target)


def make_root(folder: Path) -> Path:
    """A bare Debian root, as its installer leaves one, with this machine's ways to packages."""
    root = folder / "base"
    run("debootstrap", "--variant=minbase", "--include=ca-certificates,openssh-client", "bookworm", str(root))
    for path in (Path("/etc/resolv.conf"), Path("/etc/pip.conf"), Path("/etc/hosts")):
        if path.exists():
            shutil.copyfile(path, root / path.relative_to("/"))
    own = Path("/root/.config/pip/pip.conf")
    if own.exists():
        shutil.copyfile(own, root / "etc/pip.conf")
    (root / "etc/uv").mkdir()
    links = json.dumps(find_sources().get("find-links", []))
    (root / "etc/uv/uv.toml").write_text(f"native-tls = true\nfind-links = {links}\n")
    for path in Path("/etc/apt/apt.conf.d").glob("99*"):
        shutil.copyfile(path, root / "etc/apt/apt.conf.d" / path.name)
    shutil.copyfile("/etc/ssl/certs/ca-certificates.crt", root / "etc/ssl/certs/ca-certificates.crt")
    shutil.copy(HERE / "systemctl", root / "usr/local/bin/systemctl")
    # Manuals and translations are of no use here.
    (root / "etc/dpkg/dpkg.cfg.d/01-small").write_text("path-exclude=/usr/share/doc/*\nforce-unsafe-io\n")
    return root


class Host:
    """A bare host: `shell` runs a line in it as its root would type it."""

    def __init__(self, name: str, address: str, base: Path, folder: Path, binds: dict[str, str]) -> None:
        self.name, self.address = name, address
        self.root = folder / "root"
        for one in ("upper", "work", "root"):
            (folder / one).mkdir(parents=True)
        lines = []
        for source, target in binds.items():
            lines += [f"mkdir -p {self.root}{target}", f"mount --bind -o ro {source} {self.root}{target}"]
        script = _START.format(base=base, folder=folder, root=self.root, binds="\n".join(lines), name=name)
        self._holder = subprocess.Popen(
            ["unshare", "--mount", "--uts", "--net", "--pid", "--fork", "--kill-child", "bash", "-c", script]
        )
        self.pid = self._await_first_process()
        device = f"pr{self._holder.pid % 1_000_000}"
        run("ip", "link", "add", device, "type", "veth", "peer", "name", "eth0", "netns", str(self.pid))
        run("ip", "link", "set", device, "master", BRIDGE, "up")
        for line in (
            f"addr add {address}/24 dev eth0",
            "link set lo up",
            "link set eth0 up",
            f"route add default via {GATEWAY}",
        ):
            run("nsenter", "-t", str(self.pid), "--net", "ip", *line.split())

    def _await_first_process(self) -> int:
        while True:
            assert self._holder.poll() is None, "the host did not start"
            children = Path(f"/proc/{self._holder.pid}/task/{self._holder.pid}/children").read_text().split()
            # It is ready when it has become the shell that waits.
            if children and Path(f"/proc/{children[0]}/root").readlink() == self.root:
                return int(children[0])
            time.sleep(0.05)

    def shell(self, line: str, *, timeout: float = 1800) -> subprocess.CompletedProcess[str]:
        """Run a line in a fresh shell of root's; checks that it ended well."""
        done = subprocess.run(
            ["nsenter", "-t", str(self.pid), "--mount", "--uts", "--net", "--pid", "--root", "--wd",
             "/usr/bin/env", "-i", "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root",              "/bin/bash", "-c", f"cd /root && {line}"],
            capture_output=True, text=True, timeout=timeout, check=False, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        assert done.returncode == 0, (
            f"{self.name}# {line}\n{done.stdout[-3000:]}\n{done.stderr[-4000:]}\n{self.read_logs()}"
        )
        return done

    def path(self, name: str) -> Path:
        """A file of the host, seen from outside."""
        return Path(f"/proc/{self.pid}/root") / name.lstrip("/")

    def read_logs(self) -> str:
        """The end of what each unit wrote."""
        folder = self.path("/var/log/units")
        files = sorted(folder.iterdir()) if folder.exists() else []
        return "\n".join(f"{one.name}: {one.read_text(errors='replace')[-1500:]}" for one in files)

    def stop(self) -> None:
        """End every process of the host with its first one."""
        self._holder.kill()
        self._holder.wait()


@contextmanager
def bridged() -> Iterator[None]:
    """A network for the hosts on this machine, with a way out; nobody outside reaches it."""
    run("ip", "link", "add", BRIDGE, "type", "bridge")
    try:
        run("ip", "addr", "add", f"{GATEWAY}/24", "dev", BRIDGE)
        run("ip", "link", "set", BRIDGE, "up")
        Path("/proc/sys/net/ipv4/ip_forward").write_text("1")
        run("iptables", "-t", "nat", "-A", *RULE)
        try:
            yield
        finally:
            run("iptables", "-t", "nat", "-D", *RULE)
    finally:
        run("ip", "link", "del", BRIDGE)
