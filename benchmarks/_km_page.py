"""The text around the measurements of k^m-anonymity."""

PAGE = """# k^m-anonymity, measured

`python -m benchmarks.km --write` made this page. Times are processor time of the method itself (hierarchy, search,
publishing), best of several runs, so that other work on the machine does not count; reading and the independent check
are not in them. BMS-POS, which the paper also uses, was not at hand.

## Speed of `km-apriori`

k = 5, a balanced hierarchy with fan-out 5, transactions at full length, one thread.

{speed}

{missed}

The most memory that a process ever held that read BMS-WebView-2, ran `km-apriori` with m = 3 and checked the release:
{memory} MB.

## What `km-refine` saves

NCP with k = 5, and in brackets the time relative to `km-apriori`. groceries and completejourney with the publishers'
own hierarchies, the others balanced with fan-out 5. "Left out": the share of items that `km-refine` with its default
budget of 1 % left out; each counts as a full loss of 1 in its NCP.

{refined}

![NCP of km-apriori and km-refine](km.svg)

Without leaving anything out, `km-refine` is never worse than `km-apriori` here. What keeps a branch general is usually
a handful of odd transactions, and leaving their items out is worth most where the cut is coarse. The brackets say what
that takes. On completejourney `km-apriori` gives up at once: it publishes one node for everything, which needs no
counting, so that whatever does better takes longer.

## Against the optimum

The small domains of the paper: the first transactions of BMS-WebView-2, the rank of each item's id modulo the domain
size (the ids themselves are all odd: modulo an even number half of the domain would stay empty), fan-out 4. NCP; a dash
where `km-optimal` gave up after 500,000 cuts.

{optimum}

## Figures 8 to 10 of the paper

Fan-out 4, k = 100, m = 3, 10,000 transactions and 40 items, all of which occur, unless said otherwise. NCP and
milliseconds of one thread. "OA as printed" is `km-optimal` with `search=breadth-first`. Memory is shown as in the
paper,
by the nodes of its count-tree: the whole one for OA and DA, that of the last round for AA. (No method here keeps such a
tree; these are counted for the comparison.)

### Fig. 8: transactions

{fig8}

**The paper:** OA and DA cost the same and grow linearly with the database; AA is faster at first and then converges to
them; all three find the same, optimal cut.
**Here:** all find cuts of the same loss. Times are milliseconds and grow about linearly with the database; the exact
searches take about twice as long as the greedy ones. The count-trees do what the paper says: that of OA and DA does not
depend on the database, that of AA is a small part of it at first and nearly the same in the end.

### Fig. 9: items

{fig9}

**The paper:** DA and AA grow linearly with the domain, OA exponentially; the loss of all is the same.
**Here:** the loss of all is the same, too (at 50 items 7.84 %). OA as printed looks at {printed} cuts:
exponential. The best-first search goes only where a rare set forces it ({best} cuts) and stays near the
others. The count-tree of OA and DA grows faster than the domain, that of AA does not.

### Fig. 10: m

{fig10}

**The paper:** OA and DA grow exponentially with m, AA linearly; the losses are close to the optimum.
**Here:** all grow with m, the exact searches most. The losses equal the optimum but for m = 2, where both greedy
methods lose 6.38 % and the optimum is 4.43 %. The count-tree of OA and DA grows exponentially, that of AA falls:
what was generalised for smaller sets is not counted any more.

## Figure 11 of the paper

`km-apriori` on the full click streams: k = 5, m = 3, fan-out 5 unless said otherwise. NCP and milliseconds. The paper
varies these on BMS-POS.

### Figs. 11a and 11b: k

{fig11b}

**The paper:** with k = 5 the loss is at most 3 % on all sets; time does not depend on k.
**Here:** the line k = 5 is Fig. 11a. BMS-WebView-2 is near 3 %, BMS-WebView-1 is not, and the reason is the hierarchy.
The paper does not say in which order its balanced hierarchies put the items. On BMS-WebView-1 (k = 5, fan-out 5):

{orders}

In the order of their ids, frequent and rare items share nodes in an unlucky way; by frequency, or in a random order,
the loss is what the paper reports. The loss rises with k; time and the count-tree fall a little, because larger steps
are taken earlier.

### Fig. 11c: height of the hierarchy

{fig11c}

**The paper:** lower hierarchies (a larger fan-out) are faster and lose more; at the lowest one AA finds only the
trivial cut.
**Here:** lower ones are faster and lose more, too. The trivial cut is all that is left on BMS-WebView-1 with the lowest
and with the tallest one.

### Fig. 11d: m

{fig11d}

**The paper:** time grows with m, and the loss slightly. **Here:** time grows as well; the loss grows more than
slightly. The count-tree of the last round is largest for m = 2, before most items are generalised.
"""
