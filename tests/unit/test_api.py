"""The functions of the top level: what the commands do, on anything that holds transactions."""

import io
import json
import sys
import types

import pandas as pd
import pytest

import anonset
from anonset.data.progress import Bar, watched

LONG = pd.DataFrame({"bill": [1, 1, 2, 2, 3, 4, 4], "product": ["a", "b", "a", "b", "a", "a", "c"]})
BASKETS = [["wine", "bread"], ["wine", "bread"], ["beer"], ["beer"], ["tea", "bread"]]
NAMED = {"transaction": "bill", "item": "product"}


def test_reading_options_are_taken_wherever_data_are():
    release = anonset.anonymize(LONG, k=2, seed=1, **NAMED)
    assert anonset.profile(LONG, **NAMED).transactions == 4
    assert len(anonset.risk(LONG, m=1, **NAMED)) == 1
    assert anonset.risk(LONG, release, attack="whole-basket", **NAMED).attacks
    assert anonset.measure(LONG, release, metrics="lengths", **NAMED)["length_mean_before"] == 1.75
    assert anonset.hierarchy(LONG, by="order", **NAMED).height >= 1
    assert len(anonset.compare(LONG, methods=["pta"], k=[2], **NAMED)) == 1


def test_named_arguments_and_options_mean_the_same():
    named = anonset.anonymize(BASKETS, k=2, seed=4, unit="transaction")
    assert named.params["k"] == 2
    with pytest.raises(anonset.ParameterError, match="Got 'm'"):
        anonset.anonymize(BASKETS, k=2, m=2)


@pytest.mark.parametrize("given", [{"seed": 1}, {"threads": 1}, {"progress": True}])
def test_a_job_brings_seed_threads_and_progress_itself(given):
    name = next(iter(given))
    with pytest.raises(anonset.ParameterError, match=f"'{name}' must be left out beside 'job'"):
        anonset.anonymize(BASKETS, k=2, job=anonset.Job(2), **given)


def test_risk_refuses_what_belongs_to_the_other_question():
    with pytest.raises(anonset.ParameterError, match="'attack' must come with a release"):
        anonset.risk(BASKETS, attack="known-items")
    with pytest.raises(anonset.ParameterError, match="'items' must be left out with a release"):
        anonset.risk(BASKETS, BASKETS, items=["wine"])


def test_a_result_and_the_file_it_wrote_are_attacked_alike(tmp_path):
    result = anonset.anonymize(BASKETS * 3, k=3, seed=1, keep=anonset.Keep(order=True)).write(tmp_path / "out.csv")
    one = anonset.risk(BASKETS * 3, result, attack="known-items", m=1)
    two = anonset.risk(BASKETS * 3, tmp_path / "out.csv", attack="known-items", m=1)
    assert [(found.title, found.stopped) for found in one] == [(found.title, found.stopped) for found in two]
    assert not any(found.upper_bound for found in one)  # the result knows whose transaction is whose


def test_verify_takes_the_promise_of_the_certificate_and_believes_nothing_else(tmp_path):
    anonset.anonymize(BASKETS * 3, k=3, seed=1, sensitive=["tea"]).write(tmp_path / "out.dat")
    verdict = anonset.verify(tmp_path / "out.dat")
    assert verdict.holds
    assert verdict.params["k"] == 3
    assert anonset.verify(tmp_path / "out.dat", k=2, sensitive=["tea"]).params["k"] == 2
    (tmp_path / "out.dat").write_text((tmp_path / "out.dat").read_text() + "stranger\n" * 3)
    changed = anonset.verify(tmp_path / "out.dat")
    assert not changed.holds
    assert any("sha256" in witness.statement for witness in changed.witnesses)


def test_a_report_on_anything(tmp_path):
    result = anonset.anonymize(BASKETS * 3, k=3, seed=1).write(tmp_path / "out.csv")
    for number, release in enumerate((result, result.release, tmp_path / "out.csv")):
        place = anonset.report(BASKETS * 3, release, tmp_path / f"{number}.json", k=3)
        assert place.name == f"{number}.PRIVATE.json"
        assert json.loads(place.read_text())["holds"]
    page = anonset.report(BASKETS * 3, result, tmp_path / "d.html", dossier=True, purpose="a study")
    assert "a study" in page.read_text()
    with pytest.raises(anonset.ExistsError):
        anonset.report(BASKETS * 3, result, tmp_path / "0.json")
    with pytest.raises(anonset.InputError):
        anonset.report([["other"]], [["things"], ["here"]], tmp_path / "no.json")


def test_a_comparison_as_a_table_and_one_that_is_continued(tmp_path):
    first = anonset.compare(BASKETS * 4, methods=["pta", "gsc"], k=[2], folder=tmp_path)
    frame = first.to_pandas()
    assert list(frame["method"]) == ["pta", "gsc"]
    again = anonset.compare(BASKETS * 4, methods=["pta", "gsc"], k=[2], folder=tmp_path)
    assert [run.seconds for run in again] == [run.seconds for run in first]


def test_advice_follows_the_data_unless_told_otherwise():
    data = [["wine", "bread"]] * 20 + [["beer", "bread"]] * 20 + [["tea"]] * 20
    plain = anonset.advise(data, seconds=3)
    assert plain.model == "k-anonymity"
    assert plain.method in plain._repr_html_()
    secret = anonset.advise(data, sensitive=["tea"], seconds=3)
    assert "privacy-degree" in {trial.candidate.model.name for trial in secret.trials}
    assert "privacy-degree" not in {trial.candidate.model.name for trial in plain.trials}


class TestAnonymizer:
    def test_gives_back_the_kind_of_frame_that_came(self):
        safe = anonset.Anonymizer(k=2, seed=1, **NAMED)
        frame = safe.fit_transform(pd.concat([LONG.assign(bill=LONG.bill + 10 * n) for n in range(3)]))
        assert list(frame.columns) == ["bill", "product"]
        assert safe.result_.verdict.holds

    def test_is_cloned_and_is_a_step_of_a_pipeline(self):
        from sklearn.base import clone
        from sklearn.pipeline import Pipeline

        copy = clone(anonset.Anonymizer(k=3, seed=1))
        assert copy.get_params()["k"] == 3
        assert copy.set_params(k=2).get_params()["k"] == 2
        released = Pipeline([("safe", copy)]).fit_transform(BASKETS * 2)
        assert len(released) == 10

    def test_transforms_no_rows_that_were_not_checked(self):
        assert not hasattr(anonset.Anonymizer(k=2).fit(BASKETS), "transform")
        with pytest.raises(anonset.InputError, match="y must be left out"):
            anonset.Anonymizer(k=2).fit(BASKETS, y=[1] * 5)

    def test_gives_out_nothing_that_publishing_would_refuse(self):
        unlike = [[str(number)] for number in range(6)]
        with pytest.raises(anonset.AnonsetError, match="Nothing was published"):
            anonset.Anonymizer(k=2, seed=1).fit_transform(unlike)
        accepted = anonset.Anonymizer(k=2, seed=1, accept=("loss", "singling-out")).fit_transform(unlike)
        assert len(accepted) == 6


class TestProgress:
    def test_a_terminal_sees_one_line_that_goes_away(self, monkeypatch):
        screen = io.StringIO()
        screen.isatty = lambda: True
        monkeypatch.setattr(sys, "stderr", screen)
        anonset.anonymize(BASKETS, k=2, seed=1, progress=True)
        assert "check" in screen.getvalue()
        assert screen.getvalue().endswith("\r\x1b[K")

    def test_a_pipe_sees_nothing(self, capsys):
        anonset.anonymize(BASKETS, k=2, seed=1, progress=True)
        assert capsys.readouterr().err == ""

    def test_a_notebook_gets_a_bar_that_is_updated_in_place(self, monkeypatch):
        shown = []
        place = types.SimpleNamespace(update=shown.append)
        shell = types.SimpleNamespace(kernel=True)
        ipython = types.ModuleType("IPython")
        ipython.get_ipython = lambda: shell
        display = types.ModuleType("IPython.display")
        display.HTML = str
        display.display = lambda what, display_id: (shown.append(what), place)[1]
        monkeypatch.setitem(sys.modules, "IPython", ipython)
        monkeypatch.setitem(sys.modules, "IPython.display", display)
        with watched(True) as bar:
            bar("<read>", 1, 4)
            bar("check", 0, None)
        assert shown == ['<progress value="1" max="4"></progress> &lt;read&gt;', "<progress></progress> check", ""]

    def test_a_function_hears_and_false_is_nobody(self):
        heard = []
        anonset.anonymize(BASKETS, k=2, seed=1, progress=lambda *said: heard.append(said))
        assert any(stage == "check" for stage, _, _ in heard)
        with watched(False) as nobody:
            assert nobody is None
        assert isinstance(Bar(), Bar)
