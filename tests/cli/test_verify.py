"""`anonset verify`."""

import json

import pytest


@pytest.fixture
def release(cli, tmp_path):
    """A release of ours with its certificate; x is sensitive."""
    data = tmp_path / "data.dat"
    data.write_text("a b x\na b\na b c\nc d\nc d x\nc\n")
    out = tmp_path / "out.dat"
    assert cli("anonymize", data, "-k", "3", "--sensitive", "x", "-o", out).code == 0
    return out


def test_a_promise_that_holds_ends_with_0_and_says_what_was_measured(cli, tmp_path):
    path = tmp_path / "any.dat"
    path.write_text("a b\na b\nc\nc\nc\n")
    done = cli("verify", path, "-k", "2")
    assert done.code == 0
    assert done.out.startswith("holds")
    assert "k = 2" in done.out


def test_a_broken_promise_ends_with_3_and_shows_witnesses(cli, baskets):
    done = cli("verify", baskets, "-k", "2")
    assert done.code == 3
    assert done.out.startswith("does not hold")
    assert "{1, 2, 3}" in done.out
    assert "1 transaction with this published set" in " ".join(done.out.split())
    assert max(len(line) for line in done.out.splitlines()) <= 80


def test_json_carries_witnesses_and_the_same_exit_code(cli, baskets):
    done = cli("verify", baskets, "-k", "2", "--json")
    answer = json.loads(done.out)
    assert done.code == 3
    assert (answer["holds"], answer["params"], answer["measured"]["k"]) == (False, {"k": 2}, 1)
    assert {"statement", "items", "size"} == set(answer["witnesses"][0])
    assert answer["certificate"] is None


def test_the_certificate_says_model_parameters_and_sensitive_items(cli, release):
    done = cli("verify", release, "--json")
    answer = json.loads(done.out)
    assert done.code == 0
    assert answer["params"] == {"k": 3, "diversity": 2}  # the default beside sensitive items
    assert answer["certificate"]["matches"] is True
    assert "sha256 agrees" in " ".join(cli("verify", release).out.split())


def test_given_parameters_win_over_the_certificate(cli, release):
    done = cli("verify", release, "-k", "5", "--json")
    assert done.code == 3
    assert json.loads(done.out)["params"] == {"k": 5, "diversity": 2}


def test_given_sensitive_items_win_over_the_certificate(cli, release):
    assert json.loads(cli("verify", release, "--sensitive", "a", "--json").out)["measured"]["k"] < 3


def test_a_changed_file_is_not_what_the_certificate_speaks_about(cli, release):
    release.write_text(release.read_text() * 2)
    done = cli("verify", release, "--json")
    answer = json.loads(done.out)
    assert (answer["holds"], answer["certificate"]["matches"]) == (True, False)
    assert done.code == 3, "asked by the certificate alone, and it is about another file"
    assert "differs" in " ".join(cli("verify", release).out.split())
    assert cli("verify", release, "-k", "3").code == 3, "whatever is asked, the certificate is about another file"


@pytest.mark.parametrize("text", ["not json", "[]", "{}", '{"anonset": "certificate", "model": 3}'])
def test_a_broken_certificate_is_an_error_that_names_it(cli, release, text):
    certificate = release.with_name("out.dat.certificate.json")
    certificate.write_text(text)
    done = cli("verify", release)
    assert done.code == 2
    assert certificate.name in done.err
    assert done.err.count("\n") == 1


def test_an_unknown_model_in_a_certificate_is_an_error(cli, release):
    certificate = release.with_name("out.dat.certificate.json")
    certificate.write_text(certificate.read_text().replace('"k-anonymity"', '"k-anonimity"'))
    assert cli("verify", release).code == 2


def test_quiet_leaves_only_the_exit_code(cli, baskets):
    done = cli("verify", baskets, "-k", "2", "--quiet")
    assert (done.code, done.out, done.err) == (3, "", "")
