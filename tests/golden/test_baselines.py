"""GSC and Gray-TSP on the thirteen transactions of Lin et al., "PTA": worked out by hand, and beside PTA's own loss."""

import pytest

import anonset
from anonset.data.job import Job
from anonset.methods import gray_tsp, gsc
from tests.golden.test_pta import LENGTHS, NAMES, SETS

# run → (center, information loss), k = 3, item order as given
RUNS = {
    "T8 T3 T13": ("CDE", 3),
    "T1 T10 T11": ("BD", 0),
    "T6 T5 T2": ("ABD", 4),
    "T7 T12 T4 T9": ("ACE", 3),
}
PTA_LOSS = 8


@pytest.fixture
def data():
    return anonset.Transactions.from_lists([["ABCDE"[i] for i in s] for s in SETS], labels=list("ABCDE"))


def test_gsc_publishes_the_majority_of_every_run(data):
    draft = gsc.run(data, Job(1), k=3, item_order="given", protect="all")
    for run, (center, loss) in RUNS.items():
        places = [NAMES.index(name) for name in run.split()]
        assert {"".join(draft.release.transactions[i]) for i in places} == {center}
        assert sum(len(set(data[i]) ^ set(center)) for i in places) == loss
    assert draft.measurements["groups"] == 4


def test_gsc_loses_more_than_pta(data):
    result = anonset.anonymize(data, method="gsc", k=3, item_order="given", seed=1)
    assert result.measurements["information_loss"] == sum(loss for _, loss in RUNS.values()) == 10 > PTA_LOSS


def test_gray_tsp_finds_the_paper_s_loops(data):
    """Segments of six and seven are small enough for the genetic algorithm to find tours as short as PrimTSP's."""
    given = {"item_order": "given", "revote": False, "population": 30, "generations": 300}
    for seed in range(5):
        draft = gray_tsp.run(data, Job(seed), k=3, segments=2, **given)
        assert draft.measurements["loop_length"] == sum(LENGTHS) == 16


def test_sensitive_only_names_the_weaker_promise(data, tmp_path):
    """With E sensitive, the third run of the other items (T11 T5 T2, loss 3 of 7) holds none and stays as it is."""
    secret = data.with_sensitive(["E"])
    out = tmp_path / "out.dat"
    result = anonset.publish(
        secret, anonset.Targets(out=out), method="gsc", k=3, item_order="given", protect="sensitive-only", seed=1
    )
    assert "other transactions are not protected" in result.verdict.promise
    assert result.certificate.parameters == {"k": 3, "protect": "sensitive-only"}
    assert result.certificate.promise == result.verdict.promise
    whole = anonset.anonymize(secret, method="gsc", k=3, item_order="given", seed=1)
    assert (result.measurements["information_loss"], whole.measurements["information_loss"]) == (4, 7)
    assert "protect" not in whole.verdict.params
