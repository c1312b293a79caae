"""The notebook of a year: what is kept of it, and that it runs on any lake.

The lake needs such rows; the notebook runs offline and with DuckDB alone.
"""

from __future__ import annotations

import ast
import os
import re
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest

PAGE = Path(__file__).parents[2] / "docs" / "analysis.ipynb"
MOST_BYTES = 1_000_000
OURS = ("deployments", "flows", "schemas", "tasks", "warehouse")
# Before the first cell: whoever calls out of this machine is refused.
ALONE = """
import socket
def refuse(self, address, connect=socket.socket.connect):
    assert self.family == socket.AF_UNIX or address[0] in ("127.0.0.1", "::1", "localhost"), address
    return connect(self, address)
socket.socket.connect = refuse
"""


def read_notebook() -> Any:
    """The notebook as it is kept."""
    notebook = nbformat.read(PAGE, as_version=4)  # type: ignore[no-untyped-call]
    nbformat.validate(notebook)
    return notebook


def list_code(notebook: Any) -> list[Any]:
    """Its cells of code."""
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def test_the_notebook_is_kept_with_its_outputs_and_is_small() -> None:
    cells = list_code(read_notebook())
    outputs = [output for cell in cells for output in cell.outputs]
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    assert {output.output_type for output in outputs} <= {"stream", "execute_result", "display_data"}
    assert sum("image/svg+xml" in output.get("data", {}) for output in outputs) >= 10
    assert PAGE.stat().st_size < MOST_BYTES


def test_the_notebook_names_no_machine_and_imports_nothing_of_ours() -> None:
    notebook = read_notebook()
    text = PAGE.read_text("utf-8")
    assert re.findall(r"/tmp/|/home/|/root/|/work/|site-packages", text) == []
    imported = {
        (node.names[0].name if isinstance(node, ast.Import) else str(node.module)).split(".")[0]
        for cell in list_code(notebook)
        for node in ast.walk(ast.parse(cell.source))
        if isinstance(node, ast.Import | ast.ImportFrom)
    }
    assert imported == {"subprocess", "altair", "polars"}
    assert any("## 中文摘要" in cell.source for cell in notebook.cells)


@pytest.mark.long
def test_the_notebook_runs_on_another_year_offline_and_without_our_packages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from nbclient import NotebookClient

    from tests.benchmarks.simulated_year import Scale, build_years

    build_years(tmp_path / "year", Scale(candidates=20, months=5, questions=100))
    monkeypatch.setenv("PROCTOR_HOME", str(tmp_path / "year"))
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    kept = read_notebook()
    end = f"import sys; print(sorted({{name.split('.')[0] for name in sys.modules}} & set({OURS})))"
    notebook = read_notebook()
    for place, source in ((0, ALONE), (len(notebook.cells) + 1, end)):
        notebook.cells.insert(place, nbformat.v4.new_code_cell(source))  # type: ignore[no-untyped-call]
    # A folder of its own: nothing of the checkout can be imported from there.
    NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()
    cells = list_code(notebook)
    assert cells[-1].outputs[0].text == "[]\n"
    printed = "".join(output.get("text", "") for cell in cells for output in cell.outputs)
    assert "4 editions from 2025-01 to 2025-05; without an exam: 2025-03." in printed
    drawn = sum("image/svg+xml" in output.get("data", {}) for cell in cells for output in cell.outputs)
    assert drawn == sum(
        "image/svg+xml" in output.get("data", {}) for cell in list_code(kept) for output in cell.outputs
    )
