"""`anonset verify FILE` where nothing is promised."""

import json


def test_everything_measurable_is_reported(cli, baskets):
    done = cli("verify", baskets)
    assert done.code == 0
    assert "Nothing is promised" in done.out
    found = {one["model"]: one for one in json.loads(cli("verify", baskets, "--json").out)["verdicts"]}
    assert found["k-anonymity"]["measured"]["k"] == 1
    assert found["k-anonymity"]["witnesses"][0]["items"]
    assert found["km-anonymity"]["measured"]["k"] == 1


def test_sensitive_items_are_audited_too(cli, baskets):
    answer = json.loads(cli("verify", baskets, "--sensitive", "4", "--json").out)
    assert [one["model"] for one in answer["verdicts"]] == ["k-anonymity", "km-anonymity", "privacy-degree"]
    assert answer["inference"]["largest"] == 1
    assert "WARNING" in cli("verify", baskets, "--sensitive", "4").out


def test_a_promise_is_still_checked_where_one_is_named(cli, baskets):
    assert cli("verify", baskets, "-k", 2).code == 3


def test_habits_are_audited_where_users_are_published(cli, tmp_path):
    path = tmp_path / "habits.csv"
    path.write_text("transaction,user,item\n1,u,a\n2,u,b\n3,v,a\n4,w,b\n")
    found = json.loads(cli("verify", path, "--json").out)["verdicts"][-1]
    assert found["model"] == "multi-pattern"
    assert found["measured"]["k"] == 1
    assert found["witnesses"][0]["items"] == ["a", "b"]
