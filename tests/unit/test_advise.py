"""Advice: it follows the answers and the data, gives reasons, and can be carried out."""

import json
import shlex
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

import anonset
from anonset import InfeasibleError, Job, Transactions
from anonset.choose.advise import advise
from anonset.choose.trials import Candidate, attempt, sample


@pytest.fixture
def data():
    random = np.random.default_rng(4)
    rows = [[str(item) for item in random.choice(12, 3, replace=False)] for _ in range(200)]
    for row in rows[:9]:
        row.append("secret")
    return Transactions.from_lists(rows, users=[i // 4 for i in range(200)], sensitive=["secret"])


TREE = {"item": [str(item) for item in range(12)], "level1": [f"kind {item // 4}" for item in range(12)]}


@pytest.mark.parametrize(
    ("answers", "model"),
    [
        ({}, "k-anonymity"),
        ({"sensitive": True}, "privacy-degree"),
        ({"hierarchy": TREE}, "km-anonymity"),
        ({"users": True}, "multi-pattern"),
        ({"users": True, "sensitive": True}, "multi-pattern"),
    ],
)
def test_the_answers_decide_what_is_tried_first(data, answers, model):
    if "hierarchy" in answers:
        data = data.quasi()
    advice = advise(data, **answers)
    assert advice.trials[0].candidate.model.name == model
    assert advice.trials[0].candidate.reasons
    assert {one.candidate.model.name for one in advice.trials} >= {model, "k-anonymity"}


def test_what_is_recommended_can_be_published_and_is_what_was_tried(data, tmp_path):
    advice = advise(data, sensitive=True)
    assert advice.recommended is not None
    result = anonset.anonymize(data, method=advice.method, seed=1, **advice.params)
    assert result.verdict.promise == advice.promise
    assert not result.findings.refused
    assert any("tried on all transactions" in reason for reason in advice.reasons)


def test_what_the_gate_would_refuse_is_never_recommended_and_what_helps_is_said():
    rows = [[f"item {row} {place}" for place in range(4)] for row in range(100)]
    advice = advise(Transactions.from_lists(rows))
    assert advice.recommended is None
    assert all(not one.good for one in advice.trials if not one.candidate.built)
    assert advice.help
    assert advice.method == ""


def test_of_two_trials_of_a_model_the_one_that_leaves_more_is_recommended():
    random = np.random.default_rng(2)
    rows = [[f"{kind}{random.integers(30)}" for kind in "abc"] for _ in range(600)]
    items = sorted({item for row in rows for item in row})
    tree = {"item": items, "level1": [item[0] for item in items]}
    advice = advise(Transactions.from_lists(rows), hierarchy=tree)
    own = [
        one for one in advice.trials if one.good and one.candidate.model.name == advice.model and one.candidate.usual
    ]
    assert advice.recommended.kept == max(one.kept for one in own)


def test_time_that_is_up_leaves_candidates_untried(data):
    advice = advise(data, sensitive=True, seconds=1e-9)
    assert advice.recommended is None
    assert advice.not_tried > 0


def test_a_sample_keeps_the_histories_of_users_whole():
    data = Transactions.from_lists([["a"]] * 400, users=[row // 8 for row in range(400)])
    some = sample(data, 100)
    assert len(some) == 100
    counts = np.unique(some.users, return_counts=True)[1]
    assert sorted(counts.tolist())[1:] == [8] * 12


def test_p_is_no_larger_than_the_data_allow():
    data = Transactions.from_lists([["a", "s"], ["a"], ["b"], ["b", "a"]] * 5, sensitive=["s"])
    proposal = advise(data, sensitive=True)
    assert proposal.trials[0].candidate.params == {"p": 4}
    assert "not possible" in " ".join(proposal.trials[0].candidate.reasons)
    with pytest.raises(InfeasibleError, match="more than half"):
        advise(Transactions.from_lists([["s"]] * 9 + [["a"]], sensitive=["s"]), sensitive=True)


def test_a_count_is_scaled_to_the_sample_and_promised_for_the_whole():
    random = np.random.default_rng(6)
    rows = [random.choice(list("abcdef"), 3, replace=False).tolist() for _ in range(400)]
    data = Transactions.from_lists(rows, users=[row // 8 for row in range(400)])
    whole = Candidate("kamp", {"k": 2, "support": 40})
    found = attempt(data.take(np.arange(200)), whole, 600, Job(0), 400)
    assert "40" in found.promise
    assert found.whole_seconds == pytest.approx(2 * found.seconds)
    assert attempt(data, whole, 600, Job(0), 400).promise == found.promise


def test_too_few_transactions_are_said_to_be_too_few():
    with pytest.raises(InfeasibleError, match="too few"):
        advise(Transactions.from_lists([["a"], ["b"]]))


@pytest.mark.parametrize(
    "more",
    [
        ["--sensitive", "flu test"],
        ["--sensitive-file", "secret items.txt", "--user", "whose", "--encoding", "utf-8"],
        ["--user", "whose", "--sensitive-column", "secret", "--skip-nulls"],
    ],
)
def test_the_command_is_complete_and_works(more, tmp_path, capsys, monkeypatch):
    from anonset.cli.base.outcome import run

    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(3)
    rows = [(row, item, 0) for row in range(240) for item in random.choice(list("abcdef"), 3, replace=False)]
    rows += [(row, "flu test", 1) for row in range(0, 240, 20)]
    lines = ["bon;what;whose;secret", *(f"{row};{item};u{row // 3};{secret}" for row, item, secret in rows)]
    (tmp_path / "my sales.csv").write_text("\n".join(lines))
    (tmp_path / "secret items.txt").write_text("flu test\n")
    reading = ["--transaction", "bon", "--item", "what", *more]
    assert run(["advise", "--seconds", "600", "my sales.csv", *reading, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    words = shlex.split(answer["command"])
    assert words[:3] == ["anonset", "anonymize", "my sales.csv"]
    assert set(reading) <= set(words)
    for option, value in pairwise(reading):
        if option.startswith("--") and not value.startswith("--"):
            assert words[words.index(option) + 1] == value
    assert run(words[1:]) == 0


def test_the_hierarchy_that_was_given_is_in_the_command(tmp_path, capsys, monkeypatch):
    from anonset.cli.base.outcome import run

    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.dat").write_text("a b\nb c\na c\nb d\n" * 20)
    (tmp_path / "tree.csv").write_text("item,level1\na,x\nb,x\nc,y\nd,y\n")
    (tmp_path / "release.csv").touch()
    assert run(["advise", "--seconds", "600", "s.dat", "--hierarchy", "tree.csv", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["model"] == "km-anonymity"
    words = shlex.split(answer["command"])
    assert words[words.index("--hierarchy") + 1] == "tree.csv"
    assert words[words.index("-o") + 1] == "release-2.csv"
    assert run(words[1:]) == 0
    capsys.readouterr()
    assert run(["advise", "--seconds", "600", "s.dat", "--hierarchy", "no.csv"]) == 2


def test_the_page_says_it_in_words(tmp_path, capsys):
    from anonset.cli.base.outcome import run

    path = tmp_path / "data.dat"
    path.write_text("1 2\n2 3\n1 3\n" * 20)
    assert run(["advise", "--seconds", "600", str(path), "--quiet"]) == 0
    assert capsys.readouterr().out == ""
    assert run(["advise", "--seconds", "600", str(path)]) == 0
    text = capsys.readouterr().out
    for part in ("recommended", "Why:", "Do it:", "anonymize", "2 items"):
        assert part in text


def test_degrees_are_worth_a_model_of_their_own():
    rows = [["a", "b"], ["b", "c"], ["a", "c"], ["c", "d"]] * 10
    degrees = [0.1, 0.9, 0.2, 0.1, 0.3, 0.1, 0.0, 0.2] * 10
    data = replace(Transactions.from_lists(rows), sensitivity=degrees)
    proposal = advise(data, sensitive=True)
    first = proposal.trials[0]
    assert (first.candidate.model.name, first.candidate.params["p"]) == ("kp-anonymity", 0.5)
    result = anonset.anonymize(data, method=first.candidate.method, seed=1, **first.candidate.params)
    assert result.verdict.promise == first.promise
    with pytest.raises(InfeasibleError, match="Nearly everybody"):
        advise(replace(Transactions.from_lists([["a"]] * 40), sensitivity=[0.9] * 40), sensitive=True)


def test_the_kinds_that_advice_counts_are_those_that_methods_form_without_a_hierarchy():
    from anonset.data.job import Job
    from anonset.methods.steps.group.attributes import kp_problem
    from anonset.models.kp_anonymity import largest_share

    random = np.random.default_rng(8)
    for size in (4, 5, 6, 23, 60):
        rows = [random.choice(size, min(3, size), replace=False).astype(str).tolist() for _ in range(40)]
        data = Transactions.from_lists(rows)
        data = replace(data, sensitivity=random.random(data.nnz))
        problem = kp_problem(data, Job(0), k=2, p=1.0, threshold=0.75, hierarchy=None, level=None)
        assert largest_share(data, 0.75) == np.bincount(problem.secrets).max(initial=0) / len(data)


def test_columns_beside_the_items_stay_and_methods_that_know_items_only_are_not_tried(tmp_path):
    random = np.random.default_rng(5)
    rows = [(row, item, f"{row % 7}") for row in range(300) for item in random.choice(list("abcdefgh"), 3)]
    lines = ["receipt,item,store,customer", *(f"{row},{item},{store},c{row // 3}" for row, item, store in rows)]
    (tmp_path / "sales.csv").write_text("\n".join(lines))
    data = anonset.read(tmp_path / "sales.csv", transaction="receipt", user="customer", attribute="store")
    advice = advise(data, users=True)
    assert {one.candidate.model.name for one in advice.trials} == {"k-anonymity", "km-anonymity"}
    assert not [one.error for one in advice.trials if one.error]
    assert advice.recommended is not None
    assert (
        anonset.anonymize(data, method=advice.method, seed=1, **advice.params).release.transactions.columns is not None
    )


def test_the_page_says_where_lines_are_of_a_sample_and_of_all(tmp_path, capsys, monkeypatch):
    from anonset.choose import trials
    from anonset.cli.base.outcome import run

    path = tmp_path / "data.dat"
    path.write_text("1 2\n2 3\n1 3\n" * 40)
    assert run(["advise", str(path)]) == 0
    assert "a sample of" not in capsys.readouterr().out
    monkeypatch.setattr(trials.sample, "__defaults__", (60,))
    assert run(["advise", str(path)]) == 0
    assert "tried on all 120 transactions cannot be compared" in " ".join(capsys.readouterr().out.split())


def test_one_slow_trial_leaves_time_for_others(monkeypatch):
    from anonset.choose import trials

    asked = []

    def slow(data, candidate, seconds, job, whole):
        asked.append(seconds)
        if len(asked) == 1:
            return None  # stopped when its time was up
        return attempt(data, candidate, 600, job, whole)

    monkeypatch.setattr(trials, "attempt", slow)
    data = Transactions.from_lists([["a"], ["a", "b"]] * 20)
    found, left_out = trials.try_out(data, len(data), [Candidate("gsc", {"k": 2})] * 3, 100, Job(0))
    assert (len(found), left_out) == (2, 1)
    assert all(seconds <= 50 for seconds in asked)
