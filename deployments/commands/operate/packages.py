"""The packages that this installation is made of: `packages list|sbom|check`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from deployments.command_line import group_with_default
from deployments.command_line.printing import print_note, print_records, print_result
from schemas.errors import GateError
from tasks.operations.packages import describe_materials, find_advisories, list_packages, read_advisories

packages_app = typer.Typer(cls=group_with_default("list"))


@packages_app.command("list")
def show_packages() -> None:
    """List what is installed of Proctor and of all that it needs, with each licence.

    Example: proctor packages
    """
    columns = ("name", "version", "licence", "homepage")
    print_records(columns, [{name: getattr(one, name) for name in columns} for one in list_packages()])


@packages_app.command("sbom")
def write_materials(
    out: Annotated[Path, typer.Option("--out", help="File to write.")] = Path("proctor.cdx.json"),
) -> None:
    """Write the software bill of materials of this installation: CycloneDX 1.6, as JSON.

    Example: proctor packages sbom --out proctor.cdx.json
    """
    packages = list_packages()
    out.write_text(
        json.dumps(describe_materials(packages), indent=2, ensure_ascii=False) + "\n", encoding="utf-8"
    )
    print_result({"file": str(out), "packages": len(packages)})


@packages_app.command("check")
def check_advisories(
    path: Annotated[
        Path, typer.Argument(help="Advisories in OSV's form: a JSON file, a zip of them, or a folder.")
    ],
    known: Annotated[
        list[str] | None,
        typer.Option(
            "--except", help="An advisory that was looked at and does not concern you. May be given again."
        ),
    ] = None,
) -> None:
    """Compare what is installed with known advisories, from a file: nothing is sent to anybody.

    Exit code 3 where one is about what is installed here. `newest` says how old the file is: it knows nothing later.

    Example: proctor packages check /srv/osv/PyPI/all.zip

    Example: proctor packages check /srv/osv/PyPI --except PYSEC-2026-17
    """
    packages, advisories = list_packages(), read_advisories(path)
    passed = set(known or ())
    found = [
        one for one in find_advisories(packages, advisories) if not passed & {one.advisory, *one.aliases}
    ]
    newest = max(str(one.get("modified") or one.get("published") or "") for one in advisories)
    print_result(
        {
            "packages": len(packages),
            "advisories": len(advisories),
            "newest": newest or None,
            "found": [one._asdict() for one in found],
        },
        lines=[
            f"{len(packages)} packages compared with {len(advisories)} advisories, the newest of {newest or 'no date'}.",
            *(
                f"{one.package} {one.version}: {one.advisory}"
                + (f" ({', '.join(one.aliases)})" if one.aliases else "")
                + f"; mended in {', '.join(one.fixed) or 'no version yet'}. {one.summary}"
                for one in found
            ),
        ],
    )
    if found:
        print_note(
            f"Advisories are about {len({one.package for one in found})} of the packages that are installed: take a mended version "
            "(`make lock UPGRADE=1` in a checkout, then install again), or pass what does not concern you by --except."
        )
        raise typer.Exit(GateError.exit_code)
