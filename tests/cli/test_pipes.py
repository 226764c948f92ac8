"""`-` is standard input and standard output; what leaves was checked before, whole or not at all."""

import pytest

import anonset
from anonset.io.publish import pipes

ROWS = "\n".join(
    ["receipt,product", *(f"{n},{item}" for n in range(12) for item in ("bread", "wine", "tea")[: 2 + n % 2])]
)


@pytest.fixture
def sales(tmp_path):
    path = tmp_path / "sales.csv"
    path.write_text(ROWS + "\n")
    return path


def anonymize(process, *more, **options):
    return process("anonymize", "-", "-k", 3, "-o", "-", "--seed", 1, *more, input=ROWS, **options)


def test_a_release_goes_through_a_pipe_and_is_the_same_as_in_a_file(process, sales, tmp_path):
    done = anonymize(process, "--format", "long.csv")
    assert done.returncode == 0, done.stderr
    assert process("anonymize", sales, "-k", 3, "-o", "out.csv", "--seed", 1).returncode == 0
    assert done.stdout == (tmp_path / "out.csv").read_text()
    assert "no certificate" in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.csv", "out.csv.certificate.json", "sales.csv"]


def test_formats_without_lines_go_through_a_pipe(process, tmp_path):
    command = ("anonymize", "-", "-k", 3, "-o", "-", "--format", "lists.parquet")
    done = process(*command, text=False, input=ROWS.encode())
    (tmp_path / "a.parquet").write_bytes(done.stdout)
    assert anonset.verify(tmp_path / "a.parquet", k=3).holds


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ((), "--format must be given"),
        (("--format", "fimi", "--json"), "--json must be left out"),
        (("--format", "fimi", "--ledger", "l"), "--ledger must be left out"),
        (("--format", "fimi", "--mode", "644"), "--mode must be left out"),
        (("--method", "cahd-gray", "-p", "2", "--sensitive", "tea"), "standard output cannot be"),
    ],
)
def test_what_standard_output_cannot_be_is_refused_before_the_work(process, more, said, tmp_path):
    promise = ("-k", 3) if "--method" not in more else ()
    done = process("anonymize", "-", *promise, "-o", "-", *more, input=ROWS)
    assert done.returncode == 2
    assert said in done.stderr
    assert "receipt" not in done.stdout
    assert "transaction," not in done.stdout
    assert list(tmp_path.iterdir()) == []


def test_not_a_byte_leaves_where_the_check_fails(cli, sales, monkeypatch):
    from anonset.data.errors import GuaranteeError

    def broken(*args):
        raise GuaranteeError("no")

    monkeypatch.setattr(pipes, "check_again", broken)
    done = cli("anonymize", sales, "-k", 3, "-o", "-", "--format", "fimi")
    assert (done.code, done.out) == (3, "")
