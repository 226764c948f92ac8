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
Gray order, and band order (`cahd-rcm`) about as much as Gray for uniform queries. Gray is the fastest; over p and m
`cahd-rcm` takes {time_cahd_rcm_BMS1} times as long, `lsh` {time_lsh_BMS1} times and `nn` {time_nn_BMS1} times.
""",
    13: """**The paper:** as Fig. 12, with a larger advantage of Gray; LSH beats RCM in time for small p.
**Here:** as on BMS1 for uniform queries; for queries by frequency Gray is slightly better than exact neighbours,
and clearly better than band order. `lsh` is faster than `cahd-rcm` for every p. `cahd-balanced` loses clearly
least.
""",
    14: """**The paper:** Gray stays ahead for every number of sensitive items; RCM is faster than the neighbour
methods, and worse.
**Here:** the errors of uniform queries grow with m (from m = 5 to 20 by a factor of {more_error_BMS1}, depending on
the method); by frequency they differ from draw to draw more than from m to m. For uniform queries neighbours and
`cahd-balanced` lose least for every m, PermMondrian most. From m = 5 to 20 the time of `nn` grows by a factor of
{more_time_nn_BMS1}, that of `lsh` by {more_time_lsh_BMS1} and that of `cahd-gray` by {more_time_cahd_gray_BMS1},
since there are more transactions to form groups around; that of `cahd-rcm`, which is mostly the ordering, by
{more_time_cahd_rcm_BMS1}.
""",
    15: """**The paper:** as Fig. 14; LSH takes hardly longer than RCM; PermMondrian is the slowest.
**Here:** as Fig. 14 (`nn` {more_time_nn_BMS2}, `lsh` {more_time_lsh_BMS2}, `cahd-gray` {more_time_cahd_gray_BMS2},
`cahd-rcm` {more_time_cahd_rcm_BMS2}); `lsh` is faster than `cahd-rcm` throughout, and band order, not PermMondrian,
is the slowest.
""",
    16: """**The paper:** Gray keeps its advantage; the gap between methods shrinks as r grows.
**Here:** the error grows with r for all methods. Relative to the best method Gray loses {gray_to_best_BMS1} times
as much on BMS1 (r = 2, 4, 6, 8), and {gray_to_best_BMS2} times on BMS2.
""",
    17: """**The paper:** accuracy falls as p grows, Gray keeps 95 % in the worst case, PermMondrian is marginally
better than RCM. NN is left out, since it is the same as LSH.
**Here:** all methods keep 99 % or more. The rows go up and down by one point, some above the original, which is the
scatter of k-means: neither a fall with p nor an order of PermMondrian and RCM can be seen. Only ten of 497 items are
hidden, so clusters can hardly move. `anonset export RELEASE matrix.npz --expected` gives the matrix that was clustered
here.
""",
}
ATTACK = """## Guesses that the model does not see

An attacker may guess that the member in the middle of a group (with the smallest summed distance to the others) holds
the secret, because groups are built around it; or the longest, because long transactions hold more of everything. How
often that is right, and in brackets how many times as often as a blind guess in the same group. p = 10, groups with
exactly one such member; groups of PermMondrian are larger than p, so a blind guess is worth less there.
"""
SPEED = """## Goals

p = 10, 10 sensitive items; time on all threads, best of several runs side by side.
"""
PAPER = """## Where this differs from the paper

- *Which method loses least.* The paper finds Gray + CAHD best throughout. Here exact neighbours lose
  {nn_uniform_BMS1} of what Gray loses on BMS1 and {nn_uniform_BMS2} on BMS2 for query items drawn uniformly (p =
  10); for items drawn by frequency {nn_frequency_BMS1} and {nn_frequency_BMS2}. Gray order looks at the most
  frequent items first, so it brings together what frequent queries ask about, and rare items, which uniform queries
  mostly ask about, less. Band order loses about as much as Gray for uniform queries (the paper: clearly more) and
  more by frequency. PermMondrian is the worst, as in the paper,
  but for queries by frequency on BMS2, where band order mostly is.
- *Our own method.* `cahd-balanced` loses {balanced_uniform_BMS1} of what exact neighbours lose on BMS1 for uniform
  queries over p and m, {balanced_frequency_BMS1} by frequency, and {balanced_uniform_BMS2} and
  {balanced_frequency_BMS2} on BMS2. It takes {time_cahd_balanced_BMS1} and {time_cahd_balanced_BMS2} times as long
  as `cahd-gray`; its time grows with p.
- *Time.* The paper's order is Gray, RCM, LSH (ten times Gray), NN (a hundred times), PermMondrian (the slowest by
  far). Here `nn` takes {time_nn_BMS1} times as long as Gray on BMS1 and {time_nn_BMS2} times on BMS2, because
  inverted lists of distinct sets replace the linear scans; `lsh` {time_lsh_BMS1} and {time_lsh_BMS2} times, with
  interrupted searches (as the paper describes them it would compare nearly everybody, and take tens of times as
  long); PermMondrian {time_perm_mondrian_BMS1} and {time_perm_mondrian_BMS2} times, because counts of one half are
  subtracted from those of the whole. Band order takes {time_cahd_rcm_BMS1} and {time_cahd_rcm_BMS2} times as long
  as Gray: its vertex degrees are the only step that is not linear.
- *Memory.* The paper needed close to 1 GB for band order on BMS2, because it formed A·Aᵀ. Here it takes the few
  megabytes of the table above.
- *The guesses* are not in the paper. They say that the model's 1/p holds for an attacker who takes all members of a
  group for equally likely, and for no other: on these data sensitive transactions are longer than others. The longest
  member is the holder in {guess_cahd_gray} of the groups of `cahd-gray` (BMS1 / BMS2), {guess_nn} of those of `nn` and
  {guess_perm_mondrian} where groups are made by splitting. Balanced groups hold long members on purpose and reveal
  least
  ({guess_cahd_balanced}).
- *Ten times the data* are ten copies one after the other. Sorting is n log n, and the larger data no longer fit the
  cache, so a factor above 10 is expected.
"""
