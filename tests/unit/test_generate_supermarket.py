"""The example supermarket: what it sells, who buys what, and the files it writes."""

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from anonset import ExistsError, InputError, Job, ParameterError
from anonset.generate import generate_supermarket, write_supermarket
from anonset.generate.catalogue import meals, products

FILES = ["hierarchy.csv", "sensitive.txt", "transactions.csv"]


@pytest.fixture(scope="module")
def market():
    return generate_supermarket(100_000, seed=1)


@pytest.fixture(scope="module")
def data(market):
    return market.transactions


def code(data, name: str) -> int:
    return data.labels.to_pylist().index(name)


def holders(data, name: str) -> np.ndarray:
    return np.unique(data.rows[data.items == code(data, name)])


# --- what it sells ----------------------------------------------------------------------------------------------


def test_there_are_hundreds_of_products_each_known_by_one_name():
    names = [product.name for product in products()]
    assert len(names) > 500
    assert len(set(names)) == len(names)


def test_some_names_have_spaces_accents_umlauts_and_commas():
    names = "\n".join(product.name for product in products())
    for letter in " ,'éèäöüßñ":
        assert letter in names


def test_no_name_looks_like_a_spreadsheet_formula():
    assert not any(product.name[0] in "=+-@\t\r" for product in products())


def test_about_a_dozen_products_are_sensitive():
    assert 10 <= sum(product.sensitive for product in products()) <= 15


def test_every_meal_is_made_of_ordinary_products_that_are_sold():
    sold = {product.name for product in products() if not product.sensitive}
    assert len(meals()) >= 30
    for meal in meals():
        assert len(meal) >= 3
        assert set(meal) <= sold


def test_the_hierarchy_has_each_item_once_and_no_gap(market, data):
    table = market.hierarchy
    assert table.column_names == ["item", "level1", "level2", "level3"]
    assert sorted(table["item"].to_pylist()) == sorted(data.labels.to_pylist())
    assert all(all(column.to_pylist()) for column in table.columns)


def test_labels_repeat_on_other_levels_and_in_other_branches(market):
    rows = market.hierarchy.to_pylist()
    items = {row["item"] for row in rows}
    levels = [{row[f"level{i}"] for row in rows} for i in (1, 2, 3)]
    assert len(items & levels[1]) >= 3
    assert len(levels[1] & levels[2]) >= 3
    parents: dict[str, set[tuple[str, str]]] = {}
    for row in rows:
        parents.setdefault(row["level3"], set()).add((row["level1"], row["level2"]))
    assert sum(len(above) > 1 for above in parents.values()) >= 5


# --- who buys what ------------------------------------------------------------------------------------------------


def test_every_transaction_holds_something_and_lengths_are_long_tailed(data):
    lengths = data.lengths
    assert lengths.min() >= 1
    assert 7 < lengths.mean() < 10
    assert np.median(lengths) < lengths.mean()
    assert lengths.max() > 40


def test_popularity_falls_like_zipf(data):
    counts = np.sort(data.item_counts)[::-1]
    ranks = np.arange(10, 500)
    slope = np.polyfit(np.log(ranks), np.log(counts[ranks]), 1)[0]
    assert -1.5 < slope < -0.7
    assert 0.15 < counts[0] / len(data) < 0.4
    assert (counts > 0).all()


def test_every_user_comes_and_some_come_very_often(data):
    visits = np.bincount(data.users, minlength=len(data.user_labels))
    assert len(visits) == len(data) // 12
    assert visits.min() >= 1
    top = np.sort(visits)[::-1][: len(visits) // 10].sum() / len(data)
    assert 0.3 < top < 0.6


def test_a_user_repeats_himself(data):
    """Two transactions of one user share much more than two of different users."""
    order = np.argsort(data.users, kind="stable")
    sets = [set(data.items[data.offsets[i] : data.offsets[i + 1]]) for i in order[:20_000]]
    users = data.users[order[:20_000]]

    def jaccard(step: int, alike: bool) -> float:
        pairs = [i for i in range(len(sets) - step) if (users[i] == users[i + step]) == alike]
        return float(np.mean([len(sets[i] & sets[i + step]) / len(sets[i] | sets[i + step]) for i in pairs]))

    assert jaccard(1, True) > 2 * jaccard(1000, False)


def test_meals_are_bought_together(data):
    pasta, sauce = holders(data, "spaghetti"), holders(data, "tomato sauce")
    together = len(np.intersect1d(pasta, sauce))
    assert together * len(data) > 3 * len(pasta) * len(sauce)


def test_only_some_households_have_a_cat(data):
    visits = np.bincount(data.users)
    regulars = np.flatnonzero(visits >= 60)
    cats = {"wet cat food", "dry cat food", "cat litter", "clumping cat litter"}
    owners = {user for name in cats for user in data.users[holders(data, name)]}
    assert 0.15 < len(owners & set(regulars)) / len(regulars) < 0.35


def test_sensitive_products_are_rare_and_bought_by_few_again_and_again(market, data):
    assert tuple(data.sensitive_names()) == market.sensitive
    counts = data.item_counts[data.sensitive]
    assert counts.min() > 0.001 * len(data)
    assert counts.max() < 0.01 * len(data)
    assert 0.03 < (data.sensitive_part().lengths > 0).mean() < 0.1
    buyers = data.users[holders(data, "pregnancy test")]
    assert len(np.unique(buyers)) < 0.08 * len(data.user_labels)
    assert len(buyers) > 1.3 * len(np.unique(buyers))


def test_degrees_are_mostly_low_and_high_for_sensitive_products(data):
    secret = data.sensitive[data.items]
    ordinary, sensitive = data.sensitivity[~secret], data.sensitivity[secret]
    assert np.median(ordinary) < 0.1
    assert 0.01 < (ordinary >= 0.8).mean() < 0.06
    assert np.median(sensitive) > 0.8
    assert (sensitive < 0.5).mean() > 0.01


def test_a_household_thinks_the_same_of_a_product_every_time_and_others_think_otherwise(data):
    bought = data.items == code(data, "red wine")
    users, degrees = data.users[data.rows[bought]], data.sensitivity[bought]
    opinions: dict[int, set[float]] = {}
    for user, degree in zip(users.tolist(), degrees.tolist(), strict=True):
        opinions.setdefault(user, set()).add(degree)
    assert all(len(degrees) == 1 for degrees in opinions.values())
    assert len(set.union(*opinions.values())) > 50


def test_some_households_are_more_cautious_than_others(data):
    secret = data.sensitive[data.items]
    visits = np.bincount(data.users)
    total = np.bincount(data.users[data.rows[~secret]], weights=data.sensitivity[~secret])
    means = total / np.bincount(data.users[data.rows[~secret]], minlength=len(visits))
    low, high = np.percentile(means[visits >= 20], [10, 90])
    assert high > 2 * low


# --- seeds and threads ----------------------------------------------------------------------------------------------


def test_the_same_seed_gives_the_same_supermarket_on_any_number_of_threads():
    one, *others = (generate_supermarket(10_001, seed=5, threads=n).transactions for n in (1, 2, 5))
    for other in others:
        for column in ("offsets", "items", "users", "sensitivity"):
            assert np.array_equal(getattr(one, column), getattr(other, column))


def test_other_seeds_give_other_supermarkets():
    one, other = (generate_supermarket(1000, seed=seed).transactions for seed in (1, 2))
    assert not one.same_sets(other)


def test_progress_reaches_the_end():
    told = []
    generate_supermarket(10_000, job=Job(1, 2, lambda stage, done, total: told.append((stage, done, total))))
    assert told[0] == ("generate", 0, 6)
    assert told[-1] == ("generate", 6, 6)


@pytest.mark.parametrize("count", [0, 1, 2, 13])
def test_small_supermarkets_are_supermarkets_too(count):
    data = generate_supermarket(count, seed=1).transactions
    assert len(data) == len(data.users) == len(data.ids) == count


def test_as_many_users_as_asked_for():
    data = generate_supermarket(500, users=500, seed=1).transactions
    assert np.array_equal(np.sort(data.users), np.arange(500))


@pytest.mark.parametrize(
    ("bad", "name"),
    [
        ({"transactions": -1}, "transactions"),
        ({"transactions": "many"}, "transactions"),
        ({"users": 0}, "users"),
        ({"users": 11}, "users"),
        ({"mean_length": 0.5}, "mean_length"),
        ({"mean_length": 1000}, "mean_length"),
        ({"seed": -1}, "seed"),
    ],
)
def test_a_bad_parameter_is_named(bad, name, tmp_path):
    settings = {"transactions": 10, **bad}
    with pytest.raises(ParameterError, match=f"'{name}' must"):
        generate_supermarket(**settings)
    with pytest.raises(ParameterError, match=f"'{name}' must"):
        write_supermarket(tmp_path / "new", **settings)
    assert not (tmp_path / "new").exists()


# --- files ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def written(tmp_path):
    return write_supermarket(tmp_path / "market", 3000, seed=2), tmp_path / "market"


def test_exactly_the_three_files_are_written(written):
    assert sorted(path.name for path in written[1].iterdir()) == FILES


def test_the_transactions_read_back_are_the_same(written):
    market, folder = written
    data = market.transactions
    table = duckdb.sql(f"""
        SELECT "transaction", "user", item, sensitivity
        FROM read_csv('{folder}/transactions.csv', header = true, types = {{'sensitivity': 'DOUBLE'}})
        ORDER BY "transaction", item
    """).to_arrow_table()
    assert table.column_names == ["transaction", "user", "item", "sensitivity"]
    expected = pa.table(
        {
            "transaction": data.rows + 1,
            "user": data.user_labels.take(pa.array(data.users[data.rows])),
            "item": data.labels.take(pa.array(data.items)),
            "sensitivity": data.sensitivity,
        }
    ).sort_by([("transaction", "ascending"), ("item", "ascending")])
    assert table.cast(expected.schema).equals(expected)


def test_the_hierarchy_and_the_sensitive_names_read_back_are_the_same(written):
    market, folder = written
    rows = duckdb.sql(f"SELECT * FROM read_csv('{folder}/hierarchy.csv', header = true, all_varchar = true)")
    assert rows.to_arrow_table().to_pylist() == market.hierarchy.to_pylist()
    bought = {item for row in market.transactions.to_lists() for item in row}
    listed = (folder / "sensitive.txt").read_text(encoding="utf-8").splitlines()
    assert listed == [name for name in market.sensitive if name in bought]


def test_a_directory_in_use_is_not_touched_without_force(written):
    _, folder = written
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    with pytest.raises(ExistsError, match="is not empty"):
        write_supermarket(folder, 10, seed=3)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_force_replaces_the_three_files_and_nothing_else(written):
    _, folder = written
    (folder / "notes.txt").write_text("mine")
    write_supermarket(folder, 10, seed=3, force=True)
    assert (folder / "notes.txt").read_text() == "mine"
    assert sorted(path.name for path in folder.iterdir()) == sorted([*FILES, "notes.txt"])
    assert "\n11," not in (folder / "transactions.csv").read_text()


def test_an_empty_directory_and_missing_parents_are_fine(tmp_path):
    (tmp_path / "empty").mkdir()
    write_supermarket(tmp_path / "empty", 5, seed=1)
    write_supermarket(tmp_path / "a" / "b", 5, seed=1)
    assert sorted(path.name for path in (tmp_path / "a" / "b").iterdir()) == FILES


def test_a_file_in_the_way_is_an_error(tmp_path):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(InputError, match="'directory' must name a directory"):
        write_supermarket(tmp_path / "file", 5, force=True)
    with pytest.raises(InputError, match="does not exist: it is a file"):
        write_supermarket(tmp_path / "file" / "below", 5)
    assert (tmp_path / "file").read_text() == "mine"
