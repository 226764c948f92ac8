"""All commands and Python blocks of README, tutorial, how-tos and the page on threats run as they stand, in order.

A shell block runs line by line in one folder per page; a line may end in `# exit 3` to say how it ends. Blocks marked
`<!-- not run: why -->` on the line before are shown to readers only.
"""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [
    ROOT / "README.md",
    *sorted(ROOT.glob("docs/tutorial/*.md")),
    *sorted(ROOT.glob("docs/how-to/*.md")),
    ROOT / "docs" / "explanation" / "threats.md",
]
BLOCK = re.compile(r"(?P<skip><!-- not run: [^\n]*-->\n)?^```(?P<language>sh|python)\n(?P<body>.*?)^```", re.M | re.S)
SET_UP = ("make ", "pip ", "git ", "cd ")  # what `make test` itself has done already


def blocks(page: Path):
    for found in BLOCK.finditer(page.read_text()):
        if not found["skip"]:
            yield found["language"], found["body"]


def run_shell(body: str, folder: Path) -> None:
    for line in body.replace("\\\n", " ").splitlines():
        if not line.strip() or line.startswith(("#", *SET_UP)):
            continue
        ends = re.search(r"#\s*exit (\d+)", line)
        command = (
            line.replace("anonset", f"{shlex.quote(sys.executable)} -m anonset", 1) if "anonset " in line else line
        )
        done = subprocess.run(["bash", "-c", command], cwd=folder, capture_output=True, text=True, env=os.environ)
        assert done.returncode == int(ends[1] if ends else 0), f"{line}\n{done.stdout}{done.stderr}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_runs_as_it_stands(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {"__name__": "page"}
    ran = 0
    for language, body in blocks(page):
        ran += 1
        if language == "sh":
            run_shell(body, tmp_path)
        else:
            exec(compile(body, str(page), "exec"), namespace)
    assert ran, f"{page.name} shows nothing that could be run"
