"""LibreOffice for what only it can open: .doc, .rtf, .wps, .odt, Word and Excel 2003 XML."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

from schemas.errors import DocumentError

# What a fresh profile is told: a document loads nothing outside itself. What asks for an address all the same asks a proxy that is none.
_SETTINGS = "".join(
    f'<item oor:path="/org.openoffice.{path}"><prop oor:name="{name}" oor:op="fuse"><value>{value}</value></prop></item>'
    for path, name, value in (
        ("Office.Common/Security/Scripting", "BlockUntrustedRefererLinks", "true"),
        ("Inet/Settings", "ooInetProxyType", "2"),
        *(
            ("Inet/Settings", f"ooInet{scheme}Proxy{part}", value)
            for scheme in ("HTTP", "HTTPS", "FTP")
            for part, value in (("Name", "127.0.0.1"), ("Port", "9"))
        ),
        ("Inet/Settings", "ooInetNoProxy", ""),
    )
)
_PROFILE = (
    '<?xml version="1.0" encoding="UTF-8"?><oor:items xmlns:oor="http://openoffice.org/2001/registry" '
    f'xmlns:xs="http://www.w3.org/2001/XMLSchema">{_SETTINGS}</oor:items>'
)

_SUFFIXES = {"doc": "doc", "rtf": "rtf", "odt": "odt", "word-xml": "xml", "excel-xml": "xml", "ods": "ods"}


def find_libreoffice() -> str | None:
    """Return the path of the `soffice` program, or None. `PROCTOR_SOFFICE` overrides the search."""
    named = os.environ.get("PROCTOR_SOFFICE")
    if named is not None:
        return named if named and Path(named).exists() else None
    return shutil.which("soffice") or shutil.which("libreoffice")


def convert_with_libreoffice(data: bytes, kind: str, target: str, time_limit_s: float) -> bytes:
    """Return the document as `target` (`docx` or `xlsx`).

    Macros are not run. What a document names outside itself, at an address or on this machine, is not loaded.

    Raises:
        DocumentError: `needs_libreoffice` when it is not installed, `timeout`, `encrypted`, or `corrupt`
            when it cannot open the file.
    """
    program = find_libreoffice()
    if program is None:
        raise DocumentError(
            "needs_libreoffice",
            f"A document of this kind ({kind}) is read through LibreOffice, which is not installed. "
            "Install libreoffice-writer, or save the document as .docx.",
        )
    if kind == "rtf":
        # LibreOffice loads what this field names, whatever its settings say. The word is parted: a text that has it reads as before.
        data = data.replace(b"INCLUDEPICTURE", b"INCLUDE{}PICTURE")
    with tempfile.TemporaryDirectory(prefix="proctor-office-") as folder:
        source = Path(folder) / f"document.{_SUFFIXES.get(kind, kind)}"
        source.write_bytes(data)
        out = Path(folder) / "out"
        # a conversion that fails on the first start of a fresh profile often succeeds on the second
        for attempt in (1, 2):
            _run(program, source, target, out, Path(folder) / f"profile{attempt}", time_limit_s)
            made = out / f"document.{target}"
            if made.exists() and made.stat().st_size:
                return made.read_bytes()
    raise DocumentError(
        "corrupt",
        "LibreOffice could not open the document: it is damaged or password protected. Save it again.",
    )


def _run(program: str, source: Path, target: str, out: Path, profile: Path, time_limit_s: float) -> None:
    (profile / "user").mkdir(parents=True)
    (profile / "user" / "registrymodifications.xcu").write_text(_PROFILE, encoding="utf-8")
    command = [
        program,
        "--headless",
        "--norestore",
        "--nolockcheck",
        f"-env:UserInstallation={profile.as_uri()}",
        "--convert-to",
        target,
        "--outdir",
        str(out),
        str(source),
    ]
    environment = {**os.environ, "SAL_USE_VCLPLUGIN": "svp", "HOME": str(profile.parent)}
    process = subprocess.Popen(
        command,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        stdin=subprocess.DEVNULL,
        env=environment,
    )
    try:
        process.wait(timeout=time_limit_s)
    except subprocess.TimeoutExpired as error:
        process.send_signal(signal.SIGKILL)
        process.wait()
        raise DocumentError(
            "timeout", f"LibreOffice did not convert the document within {time_limit_s:.0f} seconds."
        ) from error
