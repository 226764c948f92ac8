"""A signed certificate shows who stands behind a release; every change to either is noticed."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

import anonset
from anonset import InputError, OutputError
from anonset.cli.base.outcome import run
from anonset.io.publish import signature
from anonset.io.publish.certified import find_certificate
from anonset.io.publish.signature import check_signature

ROWS = [["bread", "wine"], ["bread", "wine"], ["beer"], ["beer"]]

needs_ssh = pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="needs ssh-keygen (OpenSSH)")


def make_key(name, folder):
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", folder / name], check=True)
    return folder / name


@pytest.fixture
def keys(tmp_path, monkeypatch):
    """The keys of two people, and a file that allows the first one."""
    monkeypatch.chdir(tmp_path)
    ours, others = make_key("ours", tmp_path), make_key("others", tmp_path)
    public = ours.with_suffix(".pub").read_text().split()
    (tmp_path / "signers").write_text(f"owner@example.org {public[0]} {public[1]}\n")
    return ours, others


def signed(key, out="out.dat"):
    anonset.publish(ROWS, anonset.Targets(out=out, sign=key), k=2, seed=1)
    return Path(out)


def verified(*more):
    return run(["verify", "out.dat", "--signers", "signers", "--quiet", *more])


@needs_ssh
def test_a_signed_release_verifies_and_names_its_signer(keys, capsys):
    signed(keys[0])
    assert verified() == 0
    assert run(["verify", "out.dat", "--signers", "signers", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["signature"] == {"signer": "owner@example.org", "holds": True}
    assert sorted(path.name for path in Path().glob("out*")) == [
        "out.dat",
        "out.dat.certificate.json",
        "out.dat.certificate.json.sig",
    ]


@needs_ssh
def test_ssh_keygen_by_itself_verifies_it_too(keys):
    signed(keys[0])
    arguments = ["-n", "anonset-certificate", "-I", "owner@example.org", "-f", "signers"]
    with Path("out.dat.certificate.json").open("rb") as certificate:
        command = ["ssh-keygen", "-Y", "verify", *arguments, "-s", "out.dat.certificate.json.sig"]
        assert subprocess.run(command, stdin=certificate, capture_output=True).returncode == 0


@needs_ssh
@pytest.mark.parametrize(
    "tamper",
    [
        lambda: Path("out.dat").write_text("beer\nbeer\n"),
        lambda: Path("out.dat.certificate.json").write_text(
            Path("out.dat.certificate.json").read_text().replace('"transactions": 4', '"transactions": 5')
        ),
        lambda: Path("out.dat.certificate.json.sig").unlink(),
        lambda: Path("out.dat.certificate.json.sig").write_text("-----BEGIN SSH SIGNATURE-----\nnone\n"),
        lambda: Path("signers").write_text("# nobody\n"),
    ],
    ids=["the release", "the certificate", "no signature", "a bad signature", "nobody is allowed"],
)
def test_whatever_is_changed_the_exit_code_is_3(keys, tamper):
    signed(keys[0])
    tamper()
    assert verified() == 3


@needs_ssh
def test_a_signature_of_somebody_else_or_for_something_else_does_not_hold(keys):
    signed(keys[1])
    assert verified() == 3
    Path("out.dat.certificate.json.sig").unlink()
    command = ["ssh-keygen", "-q", "-Y", "sign", "-f", keys[0], "-n", "file", "out.dat.certificate.json"]
    subprocess.run(command, check=True, capture_output=True)
    assert verified() == 3, "the namespace is part of what is signed"


@needs_ssh
def test_a_release_without_certificate_is_not_signed(keys):
    Path("out.dat").write_text("a\na\n")
    assert verified("-k", "2") == 3


@needs_ssh
def test_a_folder_of_groups_is_signed_inside(keys):
    data = anonset.Transactions.from_lists([["a", "x"], ["a"], ["b"], ["b"]], sensitive=["x"])
    for force in (False, True):
        anonset.publish(
            data,
            anonset.Targets(out="out", sign=keys[0], force=force, accept="inference"),
            method="cahd-gray",
            p=2,
            seed=1,
        )
    assert sorted(path.name for path in Path("out").iterdir()) == [
        "certificate.json",
        "certificate.json.sig",
        "sensitive.csv",
        "transactions.csv",
    ]
    found = find_certificate("out")
    assert check_signature(found.name, found.text, found.signature, "signers").holds
    assert run(["verify", "out", "--signers", "signers", "--quiet"]) == 0


@needs_ssh
def test_a_new_release_does_not_keep_the_old_signature(keys):
    signed(keys[0])
    anonset.publish(ROWS, anonset.Targets(out="out.dat", force=True), k=2, seed=2)
    assert not Path("out.dat.certificate.json.sig").exists()


@needs_ssh
def test_a_key_that_cannot_sign_publishes_nothing(keys):
    Path("bad").write_text("no key\n")
    with pytest.raises(OutputError, match=r"could not be signed.*Nothing was published"):
        anonset.publish(ROWS, anonset.Targets(out="out.dat", sign="bad"), k=2)
    with pytest.raises(InputError, match="'sign' must name an SSH key file"):
        anonset.publish(ROWS, anonset.Targets(out="out.dat", sign="missing"), k=2)
    with pytest.raises(InputError, match="'sign' must come with an output"):
        anonset.publish(ROWS, anonset.Targets(sign=keys[0]), k=2)
    assert list(Path().glob("*out*")) == []


def test_without_ssh_keygen_one_sentence_says_so(tmp_path, monkeypatch):
    (tmp_path / "key").write_text("x")
    (tmp_path / "signers").write_text("x")
    monkeypatch.setattr(signature, "_PROGRAM", "ssh-keygen-that-is-not-there")
    with pytest.raises(InputError, match="need the program ssh-keygen"):
        anonset.publish(ROWS, anonset.Targets(out=tmp_path / "out.dat", sign=tmp_path / "key"), k=2)
    with pytest.raises(InputError, match="need the program ssh-keygen"):
        check_signature("c.json", b"{}", b"x", tmp_path / "signers")
    assert not (tmp_path / "out.dat").exists()
