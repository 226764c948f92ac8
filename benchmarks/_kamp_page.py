"""The text around KAMP's measurements."""

PAGE = """# KAMP, measured

`python -m benchmarks.kamp --write` made this page. The method: [kamp](../methods/kamp.md); the promise:
[multi-pattern](../models/multi-pattern.md).

## The data

{data}

BMS-WebView-1 and the Quest sets have no users; as in the paper, similar transactions were grouped into synthetic ones
by their Jaccard coefficient. The paper does not say how; here groups have equal sizes, and each is a transaction and
its nearest. Completejourney has real users, which the authors did not have: 2,469 households with 63 transactions each
on average.

The paper describes its Quest set by five numbers: 5,000 transactions, 1,000 items, mean length 5, 1,000 patterns of
mean length 3, correlation 0.25. A set made with them cannot have many patterns at the paper's supports of 0.06 to 0.09:
5 items per transaction spread over 1,000 leave 0.005 for the average item, and in ours one single itemset reaches 0.06.
So there are two sets here: one exactly as described, with supports at which users have as many patterns as in the
paper's Fig. 2; and one with 250 items instead of 1,000, with the paper's own supports. The paper's k goes from 1 to 6;
k = 1 asks for nothing and is left out.

## Fig. 2: how many maximal patterns users have

Share of users, in per cent.

{fig2}

![Share of users by the number of their maximal patterns, one panel per data set](kamp-fig2.svg)

**The paper:** on BMS-WebView-1 at σ = 0.02 every user has at least one maximal pattern, 3 on average and at most 20,
most have two; on the Quest set almost all have fewer than six; a larger support leaves fewer.
**Here:** the most is 20 at σ = 0.02 as well, and a larger support leaves fewer. But many users of BMS-WebView-1 have
none and the mean is lower: the grouping into users differs, so the absolute numbers below cannot be those of the
paper. On the Quest sets nearly everybody has fewer than six patterns at the larger supports. Real households are
different: most have more than ten.

## How many combinations there are

Combinations of up to M maximal patterns of a user, each counted once. The method says a bound of this number before
it starts, and refuses more than 50 million: for completejourney at σ = 0.007 and M = 6 that would be hundreds of
millions, each to be intersected over 2,469 households, and rewritten where it is rare.

{combinations}

## Fig. 3: rare combinations by support

Combinations of up to M maximal patterns that fewer than k users share.

{fig3}

![Rare combinations over M, one line per support, one panel per data set](kamp-fig3.svg)

**The paper:** there are more of them the larger M and the smaller σ; on the Quest set the growth slows down towards M
= 6.
**Here:** the same, and the Quest set as described slows down, too; the one with 250 items, whose users have more
patterns, only at its larger supports. Real households have no rare pair, but hundreds of thousands of rare
combinations of five: with ten and more habits each, everybody's combination is soon their own.

## Fig. 4: rare combinations by k

{fig4}

![Rare combinations over M, one line per k, one panel per data set](kamp-fig4.svg)

**The paper:** a larger k leaves more rare combinations.
**Here:** the same, on all sets.

## Fig. 5: pattern distance by support

`greedy` is the paper's phase 1, Algorithm 1 as printed, with CP(D) read as the table at that moment; `joint` (the
default) is ours. **The first number of a cell is phase 1**: the distance of the pattern table, which is what the
paper's Figs. 5 and 6 show. Behind an arrow stands the distance of the release, after our phase 2, where it is another
one. Then the share of users' maximal patterns that they keep in the release, where it is not all of them, and how
many virtual users (v) phase 1 asks for; none of them is published. *empty* is the distance of a table in which nobody
has a pattern. All are means over all users. "refused": more combinations than the method takes on; "{given_up}":
given up after that much processor time.

{fig5}

![Pattern distance over M by support, one panel per data set; dashed: greedy](kamp-fig5.svg)

**The paper:** PD falls with a larger support; on BMS-WebView-1 the curves turn near M = 3 and hardly change after 5,
because most users have 3 patterns; on the Quest set they turn around 4. Its figures give no numbers to compare with.
**Here:** {fig5_here}
On BMS-WebView-1 the curves turn near M = 3 and hardly change after 4 (σ ≤ 0.023), and PD falls with σ, as in the paper.

## Fig. 6: pattern distance by k

{fig6}

![Pattern distance over M by k, one panel per data set; dashed: greedy](kamp-fig6.svg)

**The paper:** PD rises with k.
**Here:** {fig6_here}
PD of `greedy` rises with k on BMS-WebView-1; that of `joint` does not always on the Quest sets: which combinations are
given and which taken changes.

## Sixty households

The first sixty households of completejourney by number, with 3,908 transactions: few users, each with many patterns.
Here the paper's phase 1 runs out of candidates and asks for virtual users. They are not published, so that the
release must do without: what that costs is the step from *phase 1* to *release*, in distance and in patterns kept.

{households}

With the greedy repair the distance can be above that of an empty table although most patterns are kept: what users are
given counts as much as what they lose. That is why the distance never stands alone.

A re-implementation from the paper alone reported 0.933 for phase 1 on sixty households with σ = 49, k = 5, M = 3. It
does not say which sixty. The first sixty give the 10.300 above, and about 140 other choices did not give 0.933 either:
this figure is not reproduced here.

## Speed

{speed}
"""
