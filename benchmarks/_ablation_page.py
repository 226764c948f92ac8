"""The page of the ablation: docs/results/crowd-ablation.md."""

from __future__ import annotations

from statistics import median

from benchmarks._tools import ROOT, table

Kept = dict[str, dict[str, list[float]]]  # row → "preset set k" → loss and time, as multiples

DECISIONS = (
    (
        "look everywhere (bitmaps of all classes), open new groups",
        "gone: a reach of 128 comes within 1 % in half the time",
    ),
    (
        "look again for candidates",
        "gone: 0.1 to 1.6 % for 10 to 30 % of the time; the other values of `usual` make up for it",
    ),
    ("parts of shards, recency, six turns instead of two, greedy end", "gone: no difference, or better without"),
    (
        "rules for rare items, single shards and few transactions; some ten formulas of k, rarity and effort",
        "gone: one rule is left, for long transactions",
    ),
    ("annealing (temperatures)", "gone: up to 0.9 % better without, at most 0.2 % worse; a local search is left"),
    ("cycles without the first group, dice, tries, silent group", "gone: about 0.5 % at most"),
    ("prefetching, waiting rows", "gone: speed alone; `thorough` has smaller blocks instead"),
    ("second sample of PTA's segments", "gone: the first one decides all of these cases"),
    (
        "a number of passes over augmenting paths for each preset",
        "gone: ten in all; 16 instead gain 0.01 % on BMS-WebView-1",
    ),
    (
        "augmenting paths twice, larger blocks of them in `thorough`",
        "kept: without both, BMS-WebView-1 with k = 5 loses 1.4 % more",
    ),
    (
        "a round for groups of long transactions",
        "kept: without it, T10I4D100K with k = 20 loses 0.7 % more, and more than 1.02 times what effort 2 lost",
    ),
    (
        "more rounds before augmenting paths",
        "not added: two to six of them gain 0.2 % at most (four sets, k = 5 and 20)",
    ),
    ("Gray order of its own", "gone: the Gray order of all methods takes bitmaps where they are faster"),
    (
        "swaps of sparse data, expectation by length",
        "under 1 %, but kept: `kp-crowd` begins with the same groups, and its releases stay as they are",
    ),
    (
        "scores in bytes, forgetful counts, sampled members, dropped infrequent items, proposals passed over",
        "kept: the same loss in less time, or a bound on the time",
    ),
    ("dissolving, refills from farther away, telling items", "kept: more than 1 % on some set"),
)

PAGE = """# `crowd`, piece by piece

What each mechanism and each value of `crowd` is worth: it is switched off, or set to its simplest value, and
everything else stays. A cell is the change of the information loss in per cent for k = 5, 10 and 20, and (in brackets)
the time as a multiple, the median of the three. Positive per cents: the piece earns its place. A piece that changes the
loss by less than 1 % everywhere goes, unless it saves much time. `python -m benchmarks.ablation` measures (processor
time of one thread, in turn), `--write` makes this page. Empty cells: the piece is not used there, or not measured.

## The presets

{now}

Not measured: {missing}.

## The presets against the former efforts

Cells as above, each preset by the former effort whose place it takes (`quick` 0, `usual` 2, `thorough` 8), the times
for k = 5, 10 and 20 in brackets. Both codes ran in turn, one thread, on a machine with much other work: `quick` is
the least of 9 to 60 runs, and varies by a tenth from time to time; the others ran once (1.95 is such an outlier).

{former}

No loss is more than 1.02 times the former one. `quick` was to take at most 1.1 times as long as effort 0, and takes
longer on mushroom and, with k = 5, on BMS-WebView-2. Counted in instructions, which no other work disturbs, it is 1.03,
1.06 and 1.20 times on mushroom. On dense data less work would save that time, but connect would then lose more than
1.02 times as much. Tried on all three sets: fewer visits, fewer neighbours, a smaller pool, and six instead of eight
partners for a swap (1.11 times the instructions on mushroom with k = 20; connect then loses 1.026 times as much). What
is needed there is a faster local search: it takes two fifths of the instructions.

## What the ablation of the former code decided

The former code had eleven efforts. Its efforts 0, 2 and 8 are measured here; `quick`, `usual` and `thorough` take their
places. Where a cell has fewer than three figures, k = 10 alone or k = 5 and 20 were measured.

The run was cut short: the rows of options (look again, look everywhere, augmenting paths, …) were measured at effort 0
only, and effort 8 not on Complete Journey. What the decisions say of look again and look everywhere at higher efforts
comes from single trials before (effort 2, k = 5, 10, 20; effort 8, k = 5 on Zipf and Complete Journey).

{before}

### What went, and why

{decisions}

Lines against loss: native/crowd has {lines:,} lines (3,829 before, and 121 for the sample of PTA); 2,000 were the goal.
What is left beyond that are the two regimes (the sparse way takes 1 to 5 times as long on dense data and loses up to
27 % more in `quick`), the vector kernels for scores and bitmaps, `diversity`, and the groups of persons (some 600 lines
that the former code did not have).
"""


def cell(found: dict[str, list[float]], preset: str, name: str) -> str:
    ours = [found[key] for k in (5, 10, 20) if (key := f"{preset} {name} {k}") in found]
    if not ours:
        return ""
    losses = " ".join(f"{100 * (loss - 1):+.1f}" for loss, _ in ours)
    return f"{losses} ({median(taken for _, taken in ours):.2f} ×)"


def against(former: dict[str, list[float]], presets: tuple[str, ...], sets: tuple[str, ...]) -> str:
    """The presets by the efforts whose places they take, with all times."""

    def shown(preset: str, name: str) -> str:
        ours = [former[f"{preset} {name} {k}"] for k in (5, 10, 20)]
        losses = " ".join(f"{100 * (loss - 1):+.1f}" for loss, _ in ours)
        return f"{losses} ({' '.join(f'{taken:.2f}' for _, taken in ours)})"

    return table(["data", *presets], [[name, *(shown(preset, name) for preset in presets)] for name in sets])


def unmeasured(kept: Kept, presets: tuple[str, ...], sets: tuple[str, ...]) -> str:
    """Which presets were not measured with which k on which data."""
    done = {case for found in kept.values() for case in found}
    gaps = []
    for preset in presets:
        missing = {name: [k for k in (5, 10, 20) if f"{preset} {name} {k}" not in done] for name in sets}
        said = [f"{name} with k = {', '.join(map(str, ks))}" for name, ks in missing.items() if ks]
        if said:
            gaps.append(f"`{preset}` on {'; '.join(said)}")
    return ". ".join(gaps) or "nothing"


def tables(kept: Kept, presets: tuple[str, ...], sets: tuple[str, ...], title: str) -> list[str]:
    """One table for each preset, with the rows that were measured on these sets."""
    out = []
    for preset in presets:
        rows = [[row, *(cell(found, preset, name) for name in sets)] for row, found in kept.items()]
        rows = [row for row in rows if any(row[1:])]
        if rows:
            out.append(f"### {title}{preset}, {'dense' if 'chess' in sets else 'sparse'} data\n")
            out.append(table(["without", *sets], rows) + "\n")
    return out


def page(
    now: Kept,
    before: Kept,
    former: dict[str, list[float]],
    presets: tuple[str, ...],
    dense: tuple[str, ...],
    sparse: tuple[str, ...],
) -> str:
    ours = [text for sets in (dense, sparse) for text in tables(now, presets, sets, "")]
    earlier = [text for sets in (dense, sparse) for text in tables(before, ("0", "2", "8"), sets, "Effort ")]
    sources = [path for path in (ROOT / "native" / "crowd").iterdir() if path.suffix in (".hpp", ".cpp")]
    lines = sum(len(path.read_text(encoding="utf-8").splitlines()) for path in sources)
    return PAGE.format(
        now="\n".join(ours),
        missing=unmeasured(now, presets, (*dense, *sparse)),
        former=against(former, presets, (*dense, *sparse)),
        before="\n".join(earlier),
        lines=lines,
        decisions=table(["piece", "decision"], DECISIONS),
    )
