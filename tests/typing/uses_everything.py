"""A program that uses every public name as a typed program would; `mypy --strict` must find nothing in it."""

import tempfile
from pathlib import Path

import anonset
from anonset import (
    METHODS,
    MODELS,
    Advice,
    AnonsetError,
    Anonymizer,
    CancelledError,
    Certificate,
    Comparison,
    Cut,
    DataError,
    ExistsError,
    Findings,
    GuaranteeError,
    Hierarchy,
    InfeasibleError,
    InputError,
    Job,
    Keep,
    OutputError,
    ParameterError,
    Release,
    Result,
    Targets,
    Transactions,
    Verdict,
    WaitingError,
)

LEVELS = {"item": ["wine", "beer", "bread", "cake"], "level1": ["drinks", "drinks", "food", "food"]}
BASKETS = [["wine", "bread"], ["wine", "bread"], ["beer"], ["beer"], ["bread", "cake"], ["bread", "cake"]] * 3


def look(data: Transactions) -> tuple[Findings, float]:
    summary = anonset.profile(data, most=3)
    alone = anonset.risk(data, m=[1, 2])
    advice: Advice = anonset.advise(data, seconds=1.0)
    compared: Comparison = anonset.compare(data, methods=["pta"], k=[2], seeds=[1])
    result: Result = anonset.anonymize(data, k=2, seed=1)
    found: Findings = anonset.risk(data, result, attack="known-items", m=2)
    assert summary.k >= 1
    assert advice.method in METHODS
    assert len(compared) == 1
    return found, alone[0].share


def make(folder: Path) -> tuple[Verdict, Certificate | None]:
    data: Transactions = anonset.read(BASKETS, sensitive=["wine"])
    tree: Hierarchy = anonset.hierarchy(LEVELS)
    same: Hierarchy = anonset.read_hierarchy(LEVELS)
    assert len(tree.names) == len(same.names)
    job = Job(seed=3)
    result = anonset.anonymize(data, "km-anonymity", k=2, m=2, hierarchy=tree, keep=Keep(order=True), job=job)
    cut: Cut | None = result.cut
    assert cut is not None
    cut.write(folder / "cut.csv")
    again: Cut = anonset.read_cut(folder / "cut.csv", tree)
    anonset.recode(BASKETS, again, k=2, m=2, hierarchy=tree, seed=1)
    anonset.check(BASKETS, Targets(out=folder / "checked.csv"), k=2)
    published: Result = anonset.publish(BASKETS, Targets(out=folder / "out.csv"), k=2, seed=1, progress=False)
    released: Release = anonset.read_release(folder / "out.csv")
    anonset.convert(folder / "out.csv", folder / "out.dat")
    anonset.write(released, published.verdict, folder / "other.csv")
    anonset.write_report(published, BASKETS, folder / "first.json")
    anonset.report(BASKETS, folder / "out.csv", folder / "second.json")
    figures = anonset.measure(BASKETS, published, metrics=["information-loss"])
    assert figures["information_loss_ratio"] >= 0
    assert anonset.query(published.release, ["wine"]) is not None
    return anonset.verify(folder / "out.csv", anonset.model("k-anonymity", k=2)), published.certificate


def in_groups() -> int:
    result = anonset.anonymize(BASKETS, "privacy-degree", p=2, sensitive=["wine"], seed=1)
    shares = anonset.expected(result.release)
    possible: Transactions = anonset.sampled(result.release, seed=1)
    return len(possible) + int(shares.shape[0])


def errors() -> list[type[AnonsetError]]:
    own: list[type[AnonsetError]] = [CancelledError, DataError, ExistsError, GuaranteeError, InfeasibleError]
    return [*own, InputError, OutputError, ParameterError, WaitingError]


def main() -> None:
    found, share = look(anonset.read(BASKETS))
    assert 0 <= share <= 1
    assert len(found) >= 1
    with tempfile.TemporaryDirectory() as folder:
        verdict, certificate = make(Path(folder))
    assert verdict.holds
    assert certificate is not None
    assert certificate.version == anonset.__version__
    assert in_groups() > 0
    assert all(issubclass(one, AnonsetError) for one in errors())
    assert set(MODELS) >= {"k-anonymity"}
    assert Anonymizer(k=2, seed=1).fit(BASKETS).result_.verdict.holds


if __name__ == "__main__":
    main()
