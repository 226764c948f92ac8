"""What the staged files promise, counted by Spark: the models' checks for data that no machine holds alone.

These read nothing but the files that will be published, and for promises in persons the private snapshot beside them.
They share nothing with the methods; the tests compare them with the models' own checks.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from anonset.data.errors import OutputError
from anonset.data.release import Verdict, Witness
from anonset.models import model_spec

MOST_WITNESSES = 5


def require_same(files: Any, snapshot: Any, columns: list[str]) -> None:
    """Refuse files that do not hold the very transactions that were to be written."""
    from pyspark.sql import functions as F

    def signed(frame: Any, sign: int) -> Any:
        lists = [F.array_sort(F.array_distinct(name)).alias(name) for name in columns]
        return frame.select(*lists, F.lit(sign).alias("_n"))

    both = signed(files, 1).unionByName(signed(snapshot, -1))
    if both.groupBy(*columns).agg(F.sum("_n").alias("_n")).filter("_n <> 0").limit(1).count():
        raise OutputError(
            "What was read back from the files is not what was written. Nothing was published. "
            "This is a defect or a failing disk; please report it."
        )


def k_anonymity(files: Any, params: Mapping[str, Any], snapshot: Any = None) -> Verdict:
    """Whether every published set is shared by k transactions; with a snapshot, also by those of k different users."""
    from pyspark.sql import functions as F

    sets = files.withColumn("_set", F.array_sort(F.array_distinct("items")))
    verdict = _shared(sets, params, "transaction")
    if params.get("diversity"):
        verdict = _diverse(sets, verdict, params)
    if snapshot is None:
        return verdict
    held = snapshot.withColumn("_set", F.array_sort(F.array_distinct("items")))
    return verdict.with_persons(_shared(held, params, "user"))


def _shared(sets: Any, params: Mapping[str, Any], unit: str) -> Verdict:
    from pyspark.sql import functions as F

    k, spec = params["k"], model_spec("k-anonymity")
    size = F.count("*") if unit == "transaction" else F.count_distinct("user")
    sizes = sets.groupBy("_set").agg(size.alias("size"))
    below = F.when(F.col("size") < k, F.col("size") if unit == "transaction" else 1).otherwise(0)
    found = sizes.agg(F.min("size").alias("k"), F.count("*").alias("groups"), F.sum(below).alias("below")).first()
    smallest, groups = found["k"] or 0, found["groups"]
    shown = {name: value for name, value in params.items() if name != "diversity"}
    holds = not groups or smallest >= k
    name = "below_k" if unit == "transaction" else "groups_below_k"
    return Verdict(
        model="k-anonymity",
        params=shown,
        promise=spec.promise(shown, unit),  # type: ignore[arg-type]
        holds=holds,
        measured={"k": smallest, "groups": groups, name: found["below"] or 0},
        witnesses=() if holds else _witnesses(sizes, k, unit),
    )


def _witnesses(sizes: Any, k: int, unit: str) -> tuple[Witness, ...]:
    rarest = sizes.orderBy("size", "_set").limit(MOST_WITNESSES).collect()
    return tuple(
        Witness(
            f"{row['size']:,} {unit}{'s' if row['size'] != 1 else ''} with this published set; {k:,} are needed",
            tuple(row["_set"]),
            row["size"],
        )
        for row in rarest
        if row["size"] < k
    )


def _diverse(sets: Any, verdict: Verdict, params: Mapping[str, Any]) -> Verdict:
    """Also privacy degree: among the transactions that share a set a sensitive item is in at most one of p."""
    from pyspark.sql import functions as F

    p, spec = params["diversity"], model_spec("k-anonymity")
    sizes = sets.groupBy("_set").agg(F.count("*").alias("size"))
    held = sets.select("_set", F.explode(F.array_distinct("sensitive")).alias("item")).groupBy("_set", "item").count()
    figures = _degree(held.join(sizes, "_set"), "_set", p, sets.count())
    shown = {**verdict.params, "diversity": p}
    holds = verdict.holds and not figures["groups_below_p"]
    extra = () if not figures["groups_below_p"] else (Witness("a sensitive item is too frequent beside one set"),)
    return Verdict(
        model=verdict.model,
        params=shown,
        promise=spec.promise(shown),
        holds=holds,
        measured={**verdict.measured, **figures},
        witnesses=() if holds else (*verdict.witnesses, *extra),
    )


def privacy_degree(transactions: Any, sensitive: Any, params: Mapping[str, Any]) -> Verdict:
    """Whether in every group each sensitive item occurs in at most one of p transactions.

    Besides, every count must belong to a group that has transactions, and no counted item may be inside of one.
    """
    from pyspark.sql import functions as F

    p, spec = params["p"], model_spec("privacy-degree")
    sizes = transactions.groupBy("group").agg(F.count("*").alias("size"))
    held = sensitive.groupBy("group", "item").agg(F.sum("count").alias("count"))
    orphans = held.join(sizes, "group", "left_anti").limit(1).count()
    inside = transactions.select(F.explode("items").alias("item")).join(sensitive.select("item").distinct(), "item")
    shape = [
        Witness(text)
        for text, broken in (
            ("a count belongs to a group without transactions", orphans),
            ("a counted item is also published inside a transaction", inside.limit(1).count()),
        )
        if broken
    ]
    figures = _degree(held.join(sizes, "group"), "group", p, transactions.count())
    figures["groups"] = sizes.count()
    if figures["groups_below_p"]:
        shape.append(Witness(f"a sensitive item occurs in more than one of {p:,} transactions of a group"))
    return Verdict(
        model="privacy-degree",
        params=dict(params),
        promise=spec.promise(params),
        holds=not shape,
        measured={name: figures[name] for name in ("p", "degree", "groups", "groups_below_p")},
        witnesses=tuple(shape),
    )


def _degree(held: Any, group: str, p: int, n: int) -> dict[str, Any]:
    """The figures of privacy degree, from `count` occurrences among `size` transactions."""
    from pyspark.sql import functions as F

    share = F.col("size") / F.col("count")
    found = held.filter("count > 0").agg(
        F.min(F.floor(share)).alias("p"),
        F.min(share).alias("degree"),
        F.count_distinct(F.when(F.col("count") * p > F.col("size"), F.col(group))).alias("below"),
    )
    row = found.first()
    if row["p"] is None:
        return {"p": n, "degree": float(n), "groups_below_p": 0}
    return {"p": int(row["p"]), "degree": float(row["degree"]), "groups_below_p": row["below"]}
