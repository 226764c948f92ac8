from collections.abc import Callable

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]
Bytes = npt.NDArray[np.uint8]
Words = npt.NDArray[np.uint64]

class Cancelled(Exception): ...

class Monitor:
    def __init__(self, progress: Callable[[int], None] | None = None) -> None: ...
    def cancel(self) -> None: ...
    def reset(self) -> None: ...
    @property
    def cancelled(self) -> bool: ...
    @property
    def done(self) -> int: ...

QUEST_BLOCK: int
SUPERMARKET_BLOCK: int

class Assortment:
    def __init__(
        self,
        popularity: Floats,
        category: Ints,
        buyers: Floats,
        meal_offsets: Longs,
        meals: Ints,
        sensitive: Ints,
        need: Floats,
    ) -> None: ...

def supermarket(
    shop: Assortment, users: Ints, lengths: Ints, seed: int, threads: int, monitor: Monitor
) -> tuple[Longs, Ints]: ...
def sensitivity(
    shop: Assortment,
    offsets: Longs,
    items: Ints,
    users: Ints,
    shape: Floats,
    seed: int,
    threads: int,
    monitor: Monitor,
) -> Floats: ...
def quest(
    transactions: int,
    mean_length: float,
    patterns: int,
    pattern_length: float,
    items: int,
    correlation: float,
    corruption: float,
    corruption_variance: float,
    equal_items: bool,
    seed: int,
    threads: int,
    monitor: Monitor,
) -> tuple[Longs, Ints]: ...
def item_counts(items: Ints, vocabulary: int, threads: int) -> Longs: ...
def take_rows(offsets: Longs, items: Ints, order: Longs, threads: int = 1) -> tuple[Longs, Ints]: ...
def part_rows(
    offsets: Longs, items: Ints, hidden: Mask, threads: int = 1
) -> tuple[tuple[Longs, Ints], tuple[Longs, Ints]]: ...
def majority_centers(
    offsets: Longs, items: Ints, group: Ints, voters: Mask | None, groups: int, threads: int = 1
) -> tuple[Longs, Ints]: ...
def center_distances(
    offsets: Longs, items: Ints, center_offsets: Longs, center_items: Ints, group: Ints, threads: int = 1
) -> Longs: ...
def item_changes(
    offsets: Longs, items: Ints, new_offsets: Longs, new_items: Ints, source: Longs, n_items: int
) -> tuple[Longs, Longs]: ...
def diverse_groups(
    offsets: Longs,
    items: Ints,
    secret_offsets: Longs,
    secrets: Ints,
    n_items: int,
    groups: Ints,
    k: int,
    p: int,
    rounds: int,
    threads: int,
    monitor: Monitor,
) -> Ints: ...
def dual_pass(
    offsets: Longs,
    items: Ints,
    weights: Longs,
    prices: Floats,
    n_items: int,
    k: int,
    wanted: Longs,
    dense: bool,
    monitor: Monitor,
    threads: int,
) -> tuple[Floats, Floats]: ...
def anchor_pass(
    offsets: Longs,
    items: Ints,
    weights: Longs,
    prices: Floats,
    n_items: int,
    k: int,
    wanted: Longs,
    budget: int,
    monitor: Monitor,
    threads: int,
) -> tuple[Floats, Longs]: ...
def center_pass(
    offsets: Longs,
    items: Ints,
    weights: Longs,
    prices: Floats,
    lifts: Floats,
    n_items: int,
    k: int,
    dense: bool,
    keep: int,
    widest: int,
    budget: int,
    notes: int,
    monitor: Monitor,
    threads: int,
) -> tuple[Floats, Longs, tuple[Words, Longs, Ints, Ints]]: ...
def lift_pass(
    offsets: Longs,
    items: Ints,
    weights: Longs,
    prices: Floats,
    values: Floats,
    lifts: Floats,
    safe: Floats,
    n_items: int,
    k: int,
    budget: int,
    notes: int,
    monitor: Monitor,
    threads: int,
) -> tuple[Floats, Floats, Floats, Longs, tuple[Words, Longs, Ints, Ints]]: ...
def lift_probe(
    offsets: Longs,
    items: Ints,
    weights: Longs,
    values: Floats,
    n_items: int,
    k: int,
    least: float,
    monitor: Monitor,
    threads: int,
) -> tuple[Words, Longs, Ints, Ints]: ...
def trade(
    start: Longs,
    rows: Ints,
    distances: Ints,
    weights: Longs,
    k: int,
    values: Floats,
    most: Floats,
    rises: Floats,
    monitor: Monitor,
) -> Floats: ...
def gray_order(offsets: Longs, items: Ints, rank: Ints, threads: int, monitor: Monitor) -> Longs: ...
def gray_keys(offsets: Longs, items: Ints, rank: Ints) -> tuple[Longs, Bytes]: ...
def prim_tours(
    offsets: Longs, items: Ints, order: Longs, bounds: Longs, n_items: int, threads: int, monitor: Monitor
) -> tuple[Longs, Longs]: ...
def genetic_tours(
    offsets: Longs,
    items: Ints,
    order: Longs,
    bounds: Longs,
    n_items: int,
    population: int,
    generations: int,
    seed: int,
    threads: int,
    monitor: Monitor,
) -> tuple[Longs, Longs]: ...
def window_groups(
    offsets: Longs, items: Ints, loops: Longs, bounds: Longs, n_items: int, k: int, threads: int, monitor: Monitor
) -> tuple[Ints, Bytes, int]: ...
def band_order(offsets: Longs, items: Ints, n_items: int, threads: int, monitor: Monitor) -> Longs: ...
def cahd_groups(
    offsets: Longs,
    items: Ints,
    secret_offsets: Longs,
    secrets: Ints,
    n_items: int,
    n_sensitive: int,
    p: int,
    alpha: int,
    monitor: Monitor,
) -> Ints: ...
def balanced_groups(
    offsets: Longs,
    items: Ints,
    secret_offsets: Longs,
    secrets: Ints,
    n_items: int,
    n_sensitive: int,
    p: int,
    alpha: int,
    monitor: Monitor,
) -> Ints: ...
def nearest_groups(
    offsets: Longs,
    items: Ints,
    secret_offsets: Longs,
    secrets: Ints,
    n_items: int,
    n_sensitive: int,
    p: int,
    monitor: Monitor,
) -> Ints: ...
def lsh_groups(
    offsets: Longs,
    items: Ints,
    secret_offsets: Longs,
    secrets: Ints,
    n_items: int,
    n_sensitive: int,
    p: int,
    dims: Ints,
    tables: int,
    most: int,
    threads: int,
    monitor: Monitor,
) -> tuple[Ints, int]: ...
def lsh_signatures(offsets: Longs, items: Ints, n_items: int, dims: Ints) -> npt.NDArray[np.uint64]: ...
def mondrian_groups(
    offsets: Longs,
    items: Ints,
    secret_offsets: Longs,
    secrets: Ints,
    n_items: int,
    n_sensitive: int,
    p: int,
    monitor: Monitor,
) -> Ints: ...
def count_candidates(
    offsets: Longs,
    items: Ints,
    n_items: int,
    queries: Ints,
    known: int,
    held: Words | None,
    absent: Words | None,
    threads: int,
    monitor: Monitor,
) -> Longs: ...
def subset_tally(
    offsets: Longs,
    items: Ints,
    n_items: int,
    weight: Longs,
    target: Mask,
    known: int,
    threads: int,
    monitor: Monitor,
) -> tuple[Longs, Longs, Longs, Longs]: ...
def link_sets(
    offsets: Longs,
    items: Ints,
    set_offsets: Longs,
    set_items: Ints,
    weight: Longs,
    own: Longs,
    n_items: int,
    jaccard: bool,
    threads: int,
    monitor: Monitor,
) -> tuple[Floats, Longs, Bytes]: ...
def recoded(offsets: Longs, items: Ints, code: Ints) -> tuple[Longs, Ints]: ...
def km_greedy(
    offsets: Longs,
    items: Ints,
    parent: Ints,
    size: Longs,
    leaf: Ints,
    k: int,
    m: int,
    apriori: bool,
    threads: int,
    monitor: Monitor,
) -> Ints: ...
def km_refine(
    offsets: Longs,
    items: Ints,
    parent: Ints,
    size: Longs,
    leaf: Ints,
    k: int,
    m: int,
    budget: int,
    form: int,
    threads: int,
    monitor: Monitor,
) -> tuple[Ints, Bytes]: ...
def km_optimal(
    offsets: Longs,
    items: Ints,
    parent: Ints,
    size: Longs,
    leaf: Ints,
    k: int,
    m: int,
    bound: int,
    most_cuts: int,
    most_rare: int,
    monitor: Monitor,
) -> tuple[bool, Ints, int, int]: ...
def km_rare(
    offsets: Longs,
    items: Ints,
    parent: Ints,
    size: Longs,
    leaf: Ints,
    k: int,
    m: int,
    shortest: bool,
    most: int,
    monitor: Monitor,
) -> tuple[Longs, Ints, Longs]: ...
def frequent_patterns(
    offsets: Longs,
    items: Ints,
    n_items: int,
    support: int,
    kind: int,
    longest: int,
    most: int,
    threads: int,
    monitor: Monitor,
) -> tuple[Longs, Ints, Longs, bool]: ...

Texts = tuple[Ints, Bytes]  # offsets and bytes, as Arrow keeps strings
Parsed = tuple[Longs, Ints, Texts, Texts, int, tuple[int, int], tuple[int, int]]

def parse_spaced(monitor: Monitor, data: Bytes, comments: bool, threads: int) -> Parsed: ...
def parse_separated(monitor: Monitor, data: Bytes, separator: str) -> Parsed: ...
def line_of_row(data: Bytes, separator: str, row: int, blanks: bool) -> int: ...
def sort_rows(monitor: Monitor, offsets: Longs, codes: Ints, place: Ints, threads: int) -> tuple[Longs, Ints]: ...
def first_bad_byte(data: Bytes) -> int: ...
def user_patterns(
    offsets: Longs, items: Ints, users: Ints, n_users: int, set_offsets: Longs, set_items: Ints, monitor: Monitor
) -> tuple[Longs, Ints, Longs, Mask]: ...
def count_combinations(
    set_offsets: Longs,
    set_items: Ints,
    held_offsets: Longs,
    held_items: Ints,
    most: int,
    k: int,
    threads: int,
    monitor: Monitor,
) -> tuple[Longs, Longs, int]: ...
def kamp_table(
    offsets: Longs,
    items: Ints,
    users: Ints,
    n_users: int,
    set_offsets: Longs,
    set_items: Ints,
    support: Longs,
    least: int,
    k: int,
    most: int,
    repair: int,
    threads: int,
    monitor: Monitor,
) -> tuple[Longs, Ints]: ...
def kamp_rows(
    offsets: Longs,
    items: Ints,
    users: Ints,
    n_users: int,
    set_offsets: Longs,
    set_items: Ints,
    target_offsets: Longs,
    target_items: Ints,
    may_add: bool,
    monitor: Monitor,
) -> tuple[Longs, Ints, Ints]: ...
def pattern_distance(
    set_offsets: Longs,
    set_items: Ints,
    owned_offsets: Longs,
    owned: Ints,
    other_offsets: Longs,
    other_items: Ints,
    others_owned_offsets: Longs,
    others_owned: Ints,
) -> Longs: ...
def similar_groups(offsets: Longs, items: Ints, n_items: int, groups: int, monitor: Monitor) -> Ints: ...
def crowd_dense(
    offsets: Longs,
    items: Ints,
    rank: Ints,
    k: int,
    block: int,
    pool: int,
    near: int,
    sorts: int,
    rounds: int,
    visits: float,
    partners: int,
    hot: float,
    cold: float,
    seed: int,
    bounds: Longs,
    drawn: Longs,
    monitor: Monitor,
    threads: int,
) -> tuple[Longs, Ints, tuple[Longs, Ints], tuple[Longs, Longs]]: ...
def draw_segments(segments: int, wanted: int, seed: int) -> Longs: ...
def crowd_sparse(
    offsets: Longs,
    items: Ints,
    n_items: int,
    k: int,
    reach: int,
    keep: int,
    again: int,
    every: int,
    turns: int,
    everywhere: bool,
    part: int,
    rounds: int,
    open: bool,
    recent: bool,
    relays: int,
    after: int,
    passes: int,
    block: int,
    shards: int,
    bounds: Longs,
    drawn: Longs,
    monitor: Monitor,
    threads: int,
) -> tuple[Ints, tuple[Longs, Ints], tuple[Longs, Longs]]: ...
def map_attributes(
    offsets: Longs,
    items: Ints,
    secret: Bytes,
    attribute_of: Ints,
    attributes: int,
    threads: int,
    monitor: Monitor,
) -> tuple[tuple[Longs, Ints], tuple[Longs, Ints], Ints]: ...
def k_means(
    offsets: Longs,
    codes: Ints,
    first: Ints,
    starts: Longs,
    clusters: int,
    iterations: int,
    seed: int,
    threads: int,
    monitor: Monitor,
) -> Ints: ...
def ant_groups(
    offsets: Longs,
    codes: Ints,
    secret_offsets: Longs,
    secrets: Ints,
    first: Ints,
    cluster: Ints,
    k: int,
    p: tuple[int, int],
    threads: int,
    monitor: Monitor,
) -> Ints: ...
def mean_centers(
    offsets: Longs, codes: Ints, first: Ints, group: Ints, groups: int, threads: int, monitor: Monitor
) -> tuple[Longs, Ints]: ...
def publish_counts(
    center_offsets: Longs,
    center_codes: Ints,
    first: Ints,
    group: Ints,
    offsets: Longs,
    items: Ints,
    secret: Bytes,
    threads: int,
    monitor: Monitor,
) -> tuple[tuple[Longs, Ints], Ints]: ...
def kp_improve(
    offsets: Longs,
    codes: Ints,
    secret_offsets: Longs,
    secrets: Ints,
    group: Ints,
    k: int,
    p: tuple[int, int],
    proposals: float,
    partners: int,
    hot: float,
    cold: float,
    shard: int,
    build: bool,
    dense: bool,
    seed: int,
    threads: int,
    monitor: Monitor,
) -> Ints: ...
def place_rows(
    offsets: Longs,
    codes: Ints,
    secret_offsets: Longs,
    secrets: Ints,
    first: Ints,
    group: Ints,
    k: int,
    p: tuple[int, int],
    threads: int,
    monitor: Monitor,
) -> Ints: ...
