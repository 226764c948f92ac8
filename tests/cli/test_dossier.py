"""`--dossier` on the command line: with a new release and with one that is there."""

from __future__ import annotations

import json
from pathlib import Path

from anonset.cli.base.outcome import run

ROWS = "".join(f"{row},{item}\n" for row in range(30) for item in ("bread", "milk" if row % 3 else "wine"))


def test_with_a_release_and_later(tmp_path: Path, capsys) -> None:
    source, out = tmp_path / "s.csv", tmp_path / "o.csv"
    source.write_text("transaction,item\n" + ROWS, encoding="utf-8")
    made = ["anonymize", str(source), "-k", "5", "-o", str(out), "--seed", "1"]
    assert run([*made, "--dossier", str(tmp_path / "a.html"), "--purpose", "Shelves", "--responsible", "Ada"]) == 0
    assert str(tmp_path / "a.PRIVATE.html") in capsys.readouterr().out.replace("\n", "").replace(" ", "")
    after = ["report", str(source), str(out), "--dossier", str(tmp_path / "b.html"), "--json"]
    assert run(after) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["report"] is None
    pages = [(tmp_path / f"{name}.PRIVATE.html").read_text(encoding="utf-8") for name in "ab"]
    assert "Shelves" in pages[0]
    assert "s.csv" in pages[1]
    assert "is right in" in pages[0] or "Somebody who knows" in pages[1]
    assert not (tmp_path / "report.PRIVATE.html").exists()
    assert run([*after, "-o", str(tmp_path / "r.html"), "--force"]) == 0
    assert (tmp_path / "r.PRIVATE.html").exists()


def test_it_must_not_replace_the_data(tmp_path: Path, capsys) -> None:
    source = tmp_path / "s.PRIVATE.html"
    source.write_text("a b\nb c\n" * 9, encoding="utf-8")
    line = ["anonymize", str(source), "--input-format", "basket", "-k", "2", "--dossier", str(source), "--force"]
    assert run(line) == 2
    assert "--dossier must not replace the input" in capsys.readouterr().err
