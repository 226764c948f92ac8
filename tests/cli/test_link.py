"""The owner's private link: written with the release, checked again, used to erase and to measure."""

import json
import stat
from pathlib import Path

import numpy as np
import pytest

import anonset
from anonset import InputError, ParameterError
from anonset.assess.erasure import forget
from anonset.io import read_link

SHOPS = """receipt,customer,product
1,Ann,milk
1,Ann,tea
2,Bo,milk
2,Bo,tea
3,Cy,milk
3,Cy,tea
4,Ann,wine
5,Bo,wine
6,Dee,wine
7,Ann,milk
8,,wine
"""


@pytest.fixture
def shop(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("shop.csv").write_text(SHOPS)
    return tmp_path


@pytest.fixture
def published(shop, cli):
    done = cli("anonymize", "shop.csv", "-k", "2", "-o", "out.csv", "--link", "link.csv", "--seed", "1")
    assert done.code == 0, done.err
    assert "link.PRIVATE.csv: it undoes the release, so keep it secret" in " ".join(done.out.split())
    return shop


def test_the_link_is_private_and_says_what_became_of_whom(published):
    link = Path("link.PRIVATE.csv")
    assert stat.S_IMODE(link.stat().st_mode) == 0o600
    assert not Path("link.csv").exists()
    read, data = read_link(link), anonset.read("shop.csv")
    result = anonset.anonymize("shop.csv", k=2, seed=1)
    assert np.array_equal(read.original, result.row_origin)
    assert read.users.to_pylist() == [["Ann", "Bo", "Cy", "Dee", ""][data.users[row]] for row in read.original]
    assert read.ids.to_pylist() == [data.ids[int(row)].as_py() for row in read.original]
    assert np.array_equal(read.row_origin(data), read.original)
    assert "Ann" not in Path("out.csv").read_text() + Path("out.csv.certificate.json").read_text()


def test_the_certificate_says_who_checked_what(published):
    certificate = json.loads(Path("out.csv.certificate.json").read_text())
    assert certificate["unit"] == "user"
    transactions, persons = certificate["measured"]["k"], certificate["persons"]["measured"]["k"]
    said = f"k = {transactions} transactions: anybody can check; {persons} persons: checked by the owner at publishing"
    assert certificate["persons"]["checked"] == said


def test_anybody_checks_transactions_and_the_owner_persons(published, cli):
    alone = " ".join(cli("verify", "out.csv").out.split())
    assert "the owner checked it at publishing (--link checks it again)" in alone
    done = cli("verify", "out.csv", "--link", "link.PRIVATE.csv", "--original", "shop.csv")
    assert done.code == 0
    assert "persons: checked now, with the owner's link" in " ".join(done.out.split())
    answer = json.loads(cli("verify", "out.csv", "--link", "link.PRIVATE.csv", "--json").out)
    assert (answer["unit"], answer["persons"]["holds"]) == ("user", True)
    assert answer["persons"]["measured"]["k"] >= 2
    more = cli("verify", "out.csv", "--link", "link.PRIVATE.csv", "-k", "4")
    assert more.code == 3
    assert "does not hold" in more.out
    assert anonset.verify("out.csv", k=2, link="link.PRIVATE.csv").persons.holds
    assert anonset.verify("out.csv", k=2, unit="transaction", link="link.PRIVATE.csv").persons is None


def test_a_false_word_of_the_certificate_on_persons_is_seen(published, cli):
    path = Path("out.csv.certificate.json")
    certificate = json.loads(path.read_text())
    certificate["persons"]["measured"]["k"] += 1
    path.write_text(json.dumps(certificate))
    assert cli("verify", "out.csv").code == 0, "nobody but the owner can know"
    done = cli("verify", "out.csv", "--link", "link.PRIVATE.csv")
    assert done.code == 3
    assert "in persons, and" in " ".join(done.out.split())


def test_persons_without_a_link_are_refused_with_what_is_needed(published, cli):
    done = cli("verify", "out.csv", "--unit", "user")
    assert done.code == 2
    assert "--link" in done.err
    assert cli("verify", "out.csv", "--original", "shop.csv").code == 2
    with pytest.raises(ParameterError, match="'unit' must come with the owner's link"):
        anonset.verify("out.csv", k=2, unit="user")


def test_a_link_of_another_release_or_other_data_is_refused(published, cli):
    assert cli("anonymize", "shop.csv", "-k", "3", "-o", "other.csv", "--link", "second.csv", "--seed", "2").code == 0
    done = cli("verify", "out.csv", "--link", "second.PRIVATE.csv")
    assert done.code == 2
    assert "The link does not fit the release" in done.err
    Path("fewer.csv").write_text("".join(SHOPS.splitlines(keepends=True)[:-1]))
    done = cli("measure", "fewer.csv", "out.csv", "--link", "link.PRIVATE.csv")
    assert done.code == 2
    assert "1 of its transactions are not in the data" in done.err
    Path("stranger.csv").write_text(SHOPS.replace("6,Dee", "6,Eve"))
    done = cli("verify", "out.csv", "--link", "link.PRIVATE.csv", "--original", "stranger.csv")
    assert "1 of its transactions have another user in the data" in done.err
    assert cli("verify", "out.csv", "--link", "shop.csv").code == 2


def test_data_in_another_order_are_found_by_their_ids(published, cli):
    lines = SHOPS.splitlines()
    Path("turned.csv").write_text("\n".join([lines[0], *reversed(lines[1:])]) + "\n")
    figures = [
        json.loads(cli("measure", source, "out.csv", "--link", "link.PRIVATE.csv", "--json").out)
        for source in ("shop.csv", "turned.csv")
    ]
    one, other = ({f["name"]: f["value"] for f in found["figures"]} for found in figures)
    result = anonset.anonymize("shop.csv", k=2, seed=1)
    assert one["information_loss"] == other["information_loss"] == result.measurements["information_loss"]


@pytest.mark.parametrize("wanted", ["shop.csv", "out.csv", "out.csv.certificate.json", "report.PRIVATE.html"])
def test_the_link_is_in_the_plan_of_paths(shop, cli, wanted):
    done = cli("anonymize", "shop.csv", "-k", "2", "-o", "out.csv", "--report", "report.html", "--link", wanted)
    if wanted.endswith(".csv"):  # its own name is another, so that it meets nobody
        assert done.code == 0
        assert Path(wanted.replace(".csv", ".PRIVATE.csv")).exists()
    else:
        assert done.code == 2
    assert Path("shop.csv").read_text() == SHOPS


def test_two_outputs_of_one_private_name_are_refused_and_a_link_needs_a_release(shop, cli):
    done = cli("anonymize", "shop.csv", "-k", "2", "-o", "l.PRIVATE.csv", "--link", "l.csv")
    assert done.code == 2
    assert "--link must be another file than --out" in done.err
    done = cli("anonymize", "shop.csv", "-k", "2", "--link", "l.csv")
    assert done.code == 2
    assert "--link must come with an output" in done.err


def test_erasure_names_the_published_transactions_and_checks_what_is_left(published, cli):
    link = read_link("link.PRIVATE.csv")
    done = cli("forget", "out.csv", "--link", "link.csv", "--who", "Ann", "--json")
    answer = json.loads(done.out)
    mine = [place + 1 for place, user in enumerate(link.users.to_pylist()) if user == "Ann"]
    assert answer["published"] == mine
    assert answer["left"] == 5
    rest = [row for place, row in enumerate(anonset.read("out.csv").to_lists(), 1) if place not in mine]
    users = [user for user in link.users.to_pylist() if user != "Ann"]
    behind = {}
    for row, user in zip(rest, users, strict=True):
        behind.setdefault(tuple(row), set()).add(user)
    fewest = min(len(who - {""}) for who in behind.values())
    assert answer["persons"]["k"] == fewest
    assert answer["holds"] == (fewest >= 2)
    assert done.code == (0 if fewest >= 2 else 3)


def test_erasure_by_transaction_and_errors_that_say_what_to_do(published, cli):
    answer = json.loads(cli("forget", "out.csv", "--link", "link.PRIVATE.csv", "--id", "8", "--json").out)
    assert answer["users"] == [""]
    assert answer["transactions"] == ["8"]
    for arguments, said in (
        (["--link", "link.csv"], "--who must name a user"),
        (["--who", "Ann"], "--link must be given"),
        (["--link", "link.csv", "--who", "Zoe"], "No published transaction is theirs"),
        (["--link", "link.csv", "--who", ""], "--who must name a user"),
    ):
        done = cli("forget", "out.csv", *arguments)
        assert done.code == 2
        assert said in done.err


def test_erasure_from_groups_takes_what_they_hold_from_the_counts(shop, cli):
    lists = [["a", "s"] if i % 8 == 0 else ["a", "b"] for i in range(32)]
    data = anonset.Transactions.from_lists(lists, users=[f"u{i}" for i in range(32)], sensitive=["s"])
    result = anonset.anonymize(data, method="cahd-blind", p=4, seed=1, unit="transaction")
    result.write("groups", link="l.csv")
    link, release = read_link("l.PRIVATE.csv"), anonset.read_release("groups")
    holder = next(place for place, row in enumerate(link.original.tolist()) if row % 8 == 0)
    user = link.users[holder].as_py()
    target = anonset.model("privacy-degree", p=4)
    with pytest.raises(ParameterError, match="'original' must be given for a release in groups"):
        forget(release, link, target, users=[user])
    done = forget(release, link, target, users=[user], original=data)
    assert done.left.counts.count.sum() == 3
    assert len(done.left) == 31
    other = next(place for place, row in enumerate(link.original.tolist()) if row % 8 != 0)
    done = forget(release, link, target, users=[link.users[other].as_py()], original=data)
    assert done.left.counts.count.sum() == 4
    wrong = anonset.Transactions.from_lists([["a", "b", "s"]] * 32, users=[f"u{i}" for i in range(32)], sensitive=["s"])
    with pytest.raises(InputError, match="its sensitive items are not those counted there"):
        forget(release, link, target, users=[link.users[p].as_py() for p in range(20)], original=wrong)


def test_the_link_of_groups_follows_names_that_were_guarded(shop):
    lists = [["=a", "s"] if i % 8 == 0 else ["=a", "b", f"+{i % 4}"] for i in range(32)]
    data = anonset.Transactions.from_lists(lists, users=[f"u{i}" for i in range(32)], sensitive=["s"])
    anonset.anonymize(data, method="cahd-blind", p=4, seed=1, unit="transaction").write("groups", link="l.csv")
    link, published = read_link("l.PRIVATE.csv"), anonset.read_release("groups").transactions.to_lists()
    for row, shown in zip(link.original.tolist(), published, strict=True):
        assert sorted(name.lstrip("'") for name in shown) == sorted(set(lists[row]) - {"s"})


def test_reports_know_the_way_back_with_the_link(published, cli):
    assert cli("risk", "shop.csv", "--link", "link.csv").code == 2
    assert cli("report", "shop.csv", "out.csv", "--link", "link.csv", "-o", "r.json").code == 0
    assert not json.loads(Path("r.PRIVATE.json").read_text())["private"]["linking"][0]["upper_bound"]


def test_published_pseudonyms_are_warned_of_with_what_they_give_away(shop, cli):
    done = cli("anonymize", "shop.csv", "-k", "2", "--keep-users", "--seed", "1", "-o", "out.csv")
    assert "Warning: Published pseudonyms give histories away" in " ".join(done.err.split())
    assert "whole history: " in " ".join(done.out.split()), "the finding that says most is shown, too"
    assert "give histories away" not in cli("anonymize", "shop.csv", "-k", "2", "--seed", "1").err


def test_risk_and_report_speak_in_both_units(published, cli):
    alone = json.loads(cli("risk", "shop.csv", "--json").out)["persons"]
    assert {one["name"] for one in alone} == {"person-items", "history-items", "whole-history"}
    assert json.loads(cli("risk", "shop.csv", "--no-user", "--json").out)["persons"] is None
    without = cli("risk", "shop.csv", "out.csv").out
    assert "only the owner's link (--link) says whose transactions these are" in " ".join(without.split())
    with_link = json.loads(cli("risk", "shop.csv", "out.csv", "--link", "link.csv", "--json").out)
    found = [one for one in with_link["findings"]["attacks"] if one["name"] == "person-items"]
    assert found
    assert all(one["stopped"] and one["worst"] <= 1 / 2 and not one["upper_bound"] for one in found)
    assert cli("anonymize", "shop.csv", "-k", "2", "--report", "r.html", "--seed", "1").code == 0
    page = Path("r.PRIVATE.html").read_text()
    assert "anybody can check" in page
    assert "looks for a person among the different users" in page


@pytest.mark.parametrize("method", ["crowd", "pta", "km-refine"])
def test_with_one_transaction_each_the_files_of_both_units_are_the_same_byte_for_byte(
    tmp_path, monkeypatch, cli, method
):
    monkeypatch.chdir(tmp_path)
    rows = [f"{i},c{i},{item}" for i in range(40) for item in ("milk", "tea", "wine")[i % 3 :]]
    Path("once.csv").write_text("\n".join(["receipt,customer,product", *rows]) + "\n")
    for unit in ("user", "transaction"):
        options = ["-k", "3", "--method", method, "--unit", unit, "--seed", "1", "-o", f"{unit}.csv"]
        assert cli("anonymize", "once.csv", *options, "--accept", "singling-out").code == 0
        assert json.loads(Path(f"{unit}.csv.certificate.json").read_text())["unit"] == unit
    assert Path("user.csv").read_bytes() == Path("transaction.csv").read_bytes()
