"""The constants of the bound. None of them can make it wrong: they say how far the search goes, and how long it takes.

What the steps behind them are worth is measured in docs/results/bound-ablation.md.
"""

from __future__ import annotations

# the steps, and how much each may cost
PASSES = 6  # over all pairs
STEP = 0.7  # of the way to the price that suits a set best; the first time half of it, for then all others are 0
ENOUGH = 0.001  # a pass that raises the bound by a smaller share is the last
ANCHOR_STEPS = 4e10  # at helpers, of all anchors together
HARD_STEPS, MOST_HARD_STEPS = 8e10, 20_000_000  # again, for the sets for which these were too few
ROUNDS = 10  # of separation at centers
ROUND_WORK = 6e9  # visits of all rounds
LEAST_ROUNDS = 3, 8  # are made all the same: of sparse data, where each takes minutes, and of others
START = 0.5  # above what pairs say at most, where anchors say more
GAIN = 0.0005  # two rounds that raise the bound by a smaller share are the last
FAR = 5  # items that transactions lose on average, above which there are too many centers to look at
INCREMENT = 0.5  # by which values rise there
INCREMENT_STEPS = 1_000_000  # around one set
LONGEST = 50  # sets with more items that a center may hold are not raised: there is too much to search around them
MOST_WORK = 1e10  # visits of a pass over all pairs up to which the bound is exact
SAMPLED_WORK = 2e9  # visits of a sample

# what is looked at around each set
SPARSE = 0.125  # of all items; where sets hold more, anchors say little that centers do not say
LEAST_STEPS, MOST_STEPS = 10_000, 1_000_000  # around one set
INCREMENT_UNIT = 1 / 32  # increments are multiples of it: of PARTS / UNIT of the kernel
CUTS = 16  # violated cuts around each set that are kept
NEAREST, WIDEST = 64, 256  # how many sets around each are looked at first, and at most
SEPARATION_STEPS = 1e10  # in a round at most; ten times as many where sets are few and sparse
FEW_SETS = 10_000
UNITS = 1024  # prices and values are multiples of 1/1024, so that comparing them is exact

# how far values rise in a round
RAISE, SPARSE_RAISE = 0.5, 0.25  # by which a round raises a value at most; where anchors have raised it before
BUSY = 0.003  # of the steps that are allowed; a set that takes more does not get farther centers
RESTING = 0.03  # and one that takes that many does not rise

# the bound of a random sample
PILOT = 1_000
CONFIDENCE = 0.99
GUESSES = (0.0, 0.2, 0.3, 0.4, 0.5, 0.6)
