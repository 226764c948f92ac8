"""The notebooks of the documentation run from top to bottom: as plain Python, and one of them in a real kernel."""

import ast
import json
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "docs" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


def cells(path: Path):
    return [cell for cell in json.loads(path.read_text())["cells"] if cell["cell_type"] == "code"]


def test_there_are_two():
    assert [path.stem for path in NOTEBOOKS] == ["before-and-after", "comparison"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_shows_what_its_cells_end_with(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {"__name__": "notebook"}
    shown = 0
    for cell in cells(path):
        tree = ast.parse("".join(cell["source"]))
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, str(path), "exec"), namespace)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), str(path), "eval"), namespace)
            shown += hasattr(value, "_repr_html_") and bool(value._repr_html_())
    assert shown >= 3


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_kept_without_output(path):
    for cell in cells(path):
        assert cell["outputs"] == []
        assert cell["execution_count"] is None


def test_a_real_kernel_shows_tables_and_a_bar():
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    notebook = nbformat.read(FOLDER / "comparison.ipynb", as_version=4)
    nbformat.validate(notebook)
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    pages = ["".join(output.get("data", {}).get("text/html", "")) for output in outputs]
    assert any("<svg" in page and "Summary" in page for page in pages)
    assert any("application/vnd.plotly.v1+json" in output.get("data", {}) for output in outputs)
    assert any(output.output_type == "display_data" for output in outputs)  # where the bar was
