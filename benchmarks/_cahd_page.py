"""The text around the measurements of privacy degree."""

HEAD = """# Privacy degree: the paper's experiments, and beyond

Made by `python -m benchmarks.cahd --write`. Sensitive items are drawn at random among those that p = 20 can hide; every
figure is the mean over {seeds} draws and {queries} group-by queries each. The reconstruction error is the
Kullback-Leibler divergence in nats (0 is perfect), for query items drawn uniformly, and drawn by frequency. Times are
processor time of one thread for the method alone, without reading and writing.
"""
CLUSTERING = """## Fig. 17: clustering of BMS1, k-means with 20 clusters

How similar transactions are to the center of their cluster when the clusters were found on the release (sensitive
items with their expected share), relative to clusters found on the original. All start from the same centers.
"""
CLAIMS = {
    12: """**The paper:** Gray + CAHD has the least error throughout, NN and LSH follow, then RCM; PermMondrian is the
worst; the error grows with p. Gray is the fastest, RCM follows, LSH takes ten times and NN a hundred times
as long.
**Here:** the error grows with p and PermMondrian is the worst, too. But exact neighbours (`nn`, `lsh`) lose less than
Gray order, and band order (`cahd-rcm`) about as much as Gray for uniform queries. Gray is the fastest; nobody takes
ten times as long.
""",
    13: """**The paper:** as Fig. 12, with a larger advantage of Gray; LSH beats RCM in time for small p.
**Here:** as on BMS1 for uniform queries; for queries by frequency Gray is slightly better than exact neighbours, and
clearly better than band order. `lsh` is faster than `cahd-rcm` for every p. `cahd-balanced` loses clearly least.
""",
    14: """**The paper:** Gray stays ahead for every number of sensitive items; RCM is faster than the neighbour
methods, and worse.
**Here:** the order of Fig. 12 stays the same for every m. The times of `nn` and `lsh` grow with m (more transactions
to find neighbours for), those of Gray and band order do not.
""",
    15: """**The paper:** as Fig. 14; LSH takes hardly longer than RCM; PermMondrian is the slowest.
**Here:** as Fig. 14; `lsh` is faster than `cahd-rcm` throughout, and band order, not PermMondrian, is the slowest.
""",
    16: """**The paper:** Gray keeps its advantage; the gap between methods shrinks as r grows.
**Here:** the error grows with r for all methods. Relative to the best method Gray loses a little less ground on BMS1 as
r grows, and always the same on BMS2.
""",
    17: """**The paper:** accuracy falls as p grows, Gray keeps 95 % in the worst case, PermMondrian is marginally
better than RCM.
**Here:** all methods keep 99 % or more; what is left is within the k-means algorithm's own scatter, so the paper's
order cannot be seen. Only ten of 497 items are hidden, so clusters can hardly move.
""",
}
ATTACK = """## Guesses that the model does not see

An attacker may guess that the member in the middle of a group (with the smallest summed distance to the others) holds
the secret, because groups are built around it; or the longest, because long transactions hold more of everything. How
often that is right, as a multiple of a blind guess: 1 is no gain. p = 10, groups with exactly one such member.
"""
SPEED = """## Goals

p = 10, 10 sensitive items; time on all threads, best of several runs side by side.
"""
PAPER = """## Where this differs from the paper

- *Which method loses least.* The paper finds Gray + CAHD best throughout. Here exact neighbours lose less for query
  items drawn uniformly (18 % less on BMS1, 27 % on BMS2 at p = 10); for items drawn by frequency 8 % less on BMS1
  and 7 % more on BMS2. Gray order looks at the most frequent items first, so it brings together what frequent
  queries ask about, and rare items, which uniform queries mostly ask about, less. Band order loses about as much as
  Gray for uniform queries (the paper: clearly more) and more by frequency. PermMondrian is the worst, as in the
  paper; on BMS2 not by much.
- *Our own method.* `cahd-balanced` loses about as much as exact neighbours on BMS1 (0.97 to 1.04 of it for uniform
  queries over p, 0.96 to 1.00 by frequency; 1.06 with 20 sensitive items) and clearly less on BMS2 (0.69 to 0.85,
  and 0.70 to 0.78), at two to four times the time of `cahd-gray` for p = 10. Its time grows with p, and on BMS2 it
  takes longer than `nn` from p = 15 on; with more transactions it stays linear and `nn` does not.
- *Time.* The paper's order is Gray, RCM, LSH (ten times Gray), NN (a hundred times), PermMondrian (the slowest by
  far). Here `nn` takes 3 to 6 times as long as Gray, because inverted lists of distinct sets replace the linear
  scans; `lsh` needs about half of that, with interrupted searches (as the paper describes them it would compare
  nearly everybody, and take tens of times as long); PermMondrian takes 1.5 to 3.5 times Gray, because counts of one
  half are subtracted from those of the whole. Band order is the slowest on BMS2: its vertex degrees are the only
  step that is not linear.
- *Memory.* The paper needed close to 1 GB for band order on BMS2, because it formed A·Aᵀ. Here it never exceeds
  what reading the file needed before.
- *The guesses* are not in the paper. They say that the model's 1/p holds for an attacker who takes all members of a
  group for equally likely, and for no other: on these data sensitive transactions are longer than others, and in a
  group of ten the longest member is the holder in about 50 % (Gray), 70 % (neighbours) and, where groups are made
  by splitting, nearly all cases. Balanced groups hold long members on purpose and give away least (20 to 30 %).
- *Ten times the data* are ten copies one after the other. Sorting is n log n, and the larger data no longer fit the
  cache: on one thread it takes 13 times as long, on two 10 to 13 times, so the goal is
  met on average and not always.
"""
