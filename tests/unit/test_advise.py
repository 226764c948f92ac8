"""Advice: it follows the answers and the data, gives reasons, and can be carried out."""

import json
from dataclasses import replace

import numpy as np
import pytest

import anonset
from anonset import InfeasibleError, Transactions
from anonset.choose.advise import advise


@pytest.fixture
def data():
    random = np.random.default_rng(4)
    rows = [[str(item) for item in random.choice(12, 3, replace=False)] for _ in range(200)]
    for row in rows[:9]:
        row.append("secret")
    return Transactions.from_lists(rows, users=[i // 4 for i in range(200)], sensitive=["secret"])


@pytest.mark.parametrize(
    ("answers", "model"),
    [
        ({}, "k-anonymity"),
        ({"sensitive": True}, "privacy-degree"),
        ({"hierarchy": True}, "km-anonymity"),
        ({"users": True}, "multi-pattern"),
        ({"users": True, "sensitive": True}, "multi-pattern"),
    ],
)
def test_the_answers_decide_the_model_and_the_proposal_works(data, answers, model):
    proposal = advise(data, **answers)
    assert proposal.model == model
    assert len(proposal.reasons) >= 3
    result = anonset.anonymize(data, method=proposal.method, seed=1, **proposal.params)
    assert result.verdict.model == model
    assert result.verdict.promise == proposal.promise


def test_p_is_no_larger_than_the_data_allow():
    data = Transactions.from_lists([["a", "s"], ["a"], ["b"], ["b", "a"]] * 5, sensitive=["s"])
    proposal = advise(data, sensitive=True)
    assert proposal.params == {"p": 4}
    assert "not possible" in " ".join(proposal.reasons)
    with pytest.raises(InfeasibleError, match="more than half"):
        advise(Transactions.from_lists([["s"]] * 9 + [["a"]], sensitive=["s"]), sensitive=True)


def test_too_few_transactions_are_said_to_be_too_few():
    with pytest.raises(InfeasibleError, match="too few"):
        advise(Transactions.from_lists([["a"], ["b"]]))


def test_the_command_answers_from_options_and_from_the_data(tmp_path, capsys):
    from anonset.cli.base.outcome import run

    path = tmp_path / "data.dat"
    path.write_text("1 2\n2 3\n1 3\n" * 20)
    assert run(["advise", str(path), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["model"] == "k-anonymity"
    assert answer["command"].startswith(f"anonset anonymize {path} --method ")
    assert run(["advise", str(path), "--has-hierarchy", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["model"] == "km-anonymity"


def test_degrees_are_worth_a_model_of_their_own():
    rows = [["a", "b"], ["b", "c"], ["a", "c"], ["c", "d"]] * 10
    degrees = [0.1, 0.9, 0.2, 0.1, 0.3, 0.1, 0.0, 0.2] * 10
    data = replace(Transactions.from_lists(rows), sensitivity=degrees)
    proposal = advise(data, sensitive=True)
    assert (proposal.model, proposal.params["p"]) == ("kp-anonymity", 0.5)
    result = anonset.anonymize(data, method=proposal.method, seed=1, **proposal.params)
    assert result.verdict.promise == proposal.promise
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
