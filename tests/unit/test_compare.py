"""Comparing methods: the grid, going on after a stop, the Pareto front, and the recommendation."""

import csv
import json
from dataclasses import replace

import numpy as np
import pytest

from anonset import METHODS, InputError, ParameterError, Transactions
from anonset.choose import compare as module
from anonset.choose.compare import RUNS, compare, plans
from anonset.choose.recommend import explained, pareto, points, recommend, table, tables
from anonset.choose.runs import Run
from anonset.reports.comparison import write_comparison


@pytest.fixture
def data():
    random = np.random.default_rng(3)
    return Transactions.from_lists([map(str, random.choice(15, 4, replace=False)) for _ in range(120)])


def test_the_grid_is_complete_and_methods_that_do_not_fit_are_named(data):
    made, left_out = plans(data, None, {"k": [3, 5], "m": [2]}, [1])
    assert {(plan.method, plan.params["k"]) for plan in made} >= {("pta", 3), ("pta", 5), ("km-apriori", 3)}
    assert "sensitive" in left_out["cahd-gray"]
    with pytest.raises(InputError, match="cahd-gray cannot be compared"):
        plans(data, ["cahd-gray"], {"p": [2]}, [1])
    with pytest.raises(ParameterError, match="alpha"):
        plans(data, ["pta"], {"k": [3], "alpha": [1]}, [1])


def test_a_comparison_goes_on_where_it_stopped(data, tmp_path, monkeypatch):
    first, _ = compare(data, tmp_path, methods=["pta"], grid={"k": [3]})
    with (tmp_path / RUNS).open("a") as ledger:
        ledger.write('{"key": "cut short by a cra')
    made = []
    real = module.anonymize
    monkeypatch.setattr(module, "anonymize", lambda *args, **named: made.append(named["k"]) or real(*args, **named))
    both, _ = compare(data, tmp_path, methods=["pta"], grid={"k": [3, 5]})
    assert made == [5]
    assert both[0] == first[0]
    assert [run.params["k"] for run in both] == [3, 5]
    other = Transactions.from_lists([["a"], ["a"], ["a"]])
    compare(other, tmp_path, methods=["pta"], grid={"k": [3]})
    assert made == [5, 3]


def test_the_same_runs_whatever_the_number_of_workers(data, tmp_path):
    one, _ = compare(data, tmp_path / "one", methods=["pta"], grid={"k": [3, 4, 5]}, workers=1)
    many, _ = compare(data, tmp_path / "many", methods=["pta"], grid={"k": [3, 4, 5]}, workers=4)
    assert [run.figures for run in one] == [run.figures for run in many]


def test_a_budget_of_nothing_makes_no_run(data, tmp_path):
    runs, _ = compare(data, tmp_path, methods=["pta"], grid={"k": [3, 4]}, budget_seconds=0)
    assert runs == []


def test_what_a_method_cannot_do_is_part_of_the_table(data, tmp_path):
    runs, _ = compare(data, tmp_path, methods=["pta"], grid={"k": [3, 1_000]})
    assert runs[0].error == ""
    assert "1,000" in runs[1].error


def test_the_front_holds_whom_nobody_beats():
    points = [(5, 0.3), (5, 0.4), (10, 0.5), (10, 0.35), (20, 0.9)]
    assert pareto(points).tolist() == [True, False, False, True, True]
    assert pareto([]).tolist() == []
    assert pareto([(5, 0.3), (5, 0.3)]).tolist() == [True, True]


def run_of(method, k, loss, seconds):
    return Run(method, "k-anonymity", {"k": k}, 1, float(k), seconds, {"information_loss_ratio": loss})


def test_the_recommendation_is_two_sentences_with_reasons():
    runs = [run_of("a", 5, 0.1, 1), run_of("b", 5, 0.2, 1), run_of("a", 10, 0.4, 2.0), run_of("b", 10, 0.3, 3.0)]
    first, _, what, why = recommend(runs)
    assert first.startswith("For k-anonymity with k = 5 take a")
    assert what.startswith("For k-anonymity with k = 10 take b: the least loss")
    assert "next is a with 40.0%" in what
    assert "a is faster (2.00 s)" in why
    tied = recommend([run_of("a", 5, 0.2, 1.0), run_of("b", 5, 0.2, 2.0)])
    assert (
        tied[0] == "For k-anonymity with k = 5 take a: nobody loses less (information loss ratio 20.0%, and so does b)."
    )
    assert recommend([]) == ["No run gave a release that could be compared. See the errors in the table."]


def test_what_would_be_refused_is_not_recommended_and_risk_stands_beside_loss():
    refused = replace(run_of("a", 5, 0.0, 1), refused="The release is the original in another order.")
    safe = replace(run_of("b", 5, 0.4, 1), figures={"information_loss_ratio": 0.4, "risk_all_items": 0.125})
    what, _ = recommend([refused, safe])
    assert what.startswith("For k-anonymity with k = 5 take b: information loss ratio 40.0%")
    assert "all items known 12.5 %" in what
    assert "take none" in recommend([refused])[0]
    shown = tables([refused, safe])[0]
    assert "would be refused" in shown["rows"][0][-1]
    assert "12.5 %" in shown["rows"][1]
    assert [row[0] for row in shown["rows"]] == ["a", "● b"]
    assert recommend([refused, safe])[1].endswith("what the other methods made would be refused.")


def test_risk_is_that_of_the_attacks_that_the_promise_is_about():
    figures = {"risk_two_items": 0.1, "risk_all_items": 0.8, "risk_secret": 0.2}
    run = replace(run_of("a", 5, 0.1, 1), figures=figures)
    assert run.risk == 0.8
    assert replace(run, model="privacy-degree").risk == 0.2
    assert replace(run, model="privacy-degree", figures={"risk_all_items": 0.8}).risk == 0.8


def test_every_model_is_compared_where_the_data_have_what_it_needs():
    random = np.random.default_rng(5)
    rows = [random.choice(list("abcdef"), 3, replace=False).tolist() + ["s"] * (row % 12 == 0) for row in range(60)]
    data = Transactions.from_lists(rows, sensitive=["s"], users=[row // 3 for row in range(60)])
    made, left_out = plans(data, None, {"k": [2, 5]}, [1])
    assert {METHODS[plan.method].model for plan in made} >= {"k-anonymity", "km-anonymity", "privacy-degree"}
    degrees = {plan.params["p"] for plan in made if METHODS[plan.method].model == "privacy-degree"}
    assert degrees == {2, 5}
    assert not any("it needs" in why for why in left_out.values())


def test_every_figure_on_the_page_is_explained(data, tmp_path):
    runs, _ = compare(data, tmp_path, methods=["pta", "km-apriori"], grid={"k": [3], "m": [1]}, bound=True)
    sheet, page = write_comparison(
        tmp_path, *table(runs), points(runs), recommend(runs), tables=tables(runs), explained=explained(runs)
    )
    html = page.read_text("utf-8")
    figures = {name for run in runs for name in run.figures}
    meanings = {name: meaning for name, _, meaning in explained(runs)}
    assert figures <= set(meanings)
    assert all(meanings[name] for name in figures)
    assert all(f"<code>{name}</code>" in html for name in figures)
    assert "risk_all_items" in figures
    assert set(csv.DictReader(sheet.read_text("utf-8").splitlines()).fieldnames) >= figures


def test_results_are_written_as_a_table_and_a_page(data, tmp_path):
    runs, _ = compare(data, tmp_path, methods=["pta"], grid={"k": [3, 1_000]})
    sheet, page = write_comparison(tmp_path, *table(runs), points(runs), recommend(runs))
    rows = list(csv.DictReader(sheet.read_text("utf-8").splitlines()))
    assert [row["method"] for row in rows] == ["pta", "pta"]
    assert rows[0]["pareto"] == "yes"
    assert float(rows[0]["information_loss_ratio"]) == pytest.approx(runs[0].figures["information_loss_ratio"])
    html = page.read_text("utf-8")
    assert "PRIVATE" in html
    assert "Loss against privacy" in html
    assert recommend(runs)[0] in html.replace("&#39;", "'")


def test_the_command(tmp_path, capsys):
    from anonset.cli.base.outcome import run

    path = tmp_path / "data.dat"
    path.write_text("\n".join(f"{i % 5} {i % 3 + 10} {i % 2 + 20}" for i in range(60)) + "\n")
    folder = tmp_path / "out"
    assert run(["compare", str(path), "--methods", "pta", "-k", "2,4", "-o", str(folder), "--quiet"]) == 0
    assert len((folder / RUNS).read_text().splitlines()) == 2
    assert json.loads((folder / RUNS).read_text().splitlines()[0])["run"]["method"] == "pta"
    capsys.readouterr()
    budget = ["--budget-seconds", "0", "-o", str(tmp_path / "none")]
    assert run(["compare", str(path), "--methods", "pta", "--k", "2,4", *budget]) == 0
    assert "after 0 of 2 runs" in capsys.readouterr().out
    assert run(["compare", str(path), "--methods", "pta", "-k", "two"]) == 2


def test_another_hierarchy_under_the_same_name_is_another_run(data, tmp_path):
    tree = tmp_path / "tree.csv"
    labels = data.labels.to_pylist()
    grid = {"k": [3], "m": [1], "hierarchy": [str(tree)]}
    keys = []
    for kinds in (2, 3):
        tree.write_text("item,level1\n" + "".join(f"{label},kind {int(label) % kinds}\n" for label in labels))
        compare(data, tmp_path / "out", methods=["km-apriori"], grid=grid)
        keys.append({json.loads(line)["key"] for line in (tmp_path / "out" / RUNS).read_text().splitlines()})
    assert len(keys[0]) == 1
    assert len(keys[1]) == 2
