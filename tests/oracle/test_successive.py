"""Two releases of growing data, compared with counting every set in both."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonset import Release, Transactions
from anonset.assess.successive import successive

sets = st.frozensets(st.sampled_from("abcd"), max_size=3)


def release(rows):
    return Release(Transactions.from_lists(map(sorted, rows)))


def parts(row, m):
    return [frozenset(part) for size in range(1, m + 1) for part in combinations(sorted(row), size)]


@given(st.lists(sets, max_size=8), st.lists(sets, max_size=8), st.integers(2, 4), st.sampled_from([None, 1, 2]))
def test_exposed_sets_equal_counting_them_in_both(old, new, k, m):
    found = successive(release(new), release(old), k, m)
    sides = []
    for rows in (new, old):
        counts = {}
        for row in rows:
            for part in [row] if m is None else parts(row, m):
                counts[part] = counts.get(part, 0) + 1
        sides.append(counts)
    after, before = sides
    grown = [after[part] - before[part] for part in after if part in before]
    exposed = [more for more in grown if 0 < more < k]
    assert found.compared == len(grown)
    assert found.exposed == len(exposed)
    assert found.fewest == min(exposed, default=0)
    assert found.rarer == sum(more < 0 for more in grown)
    assert found.holds == (not exposed)
    items = [{item for row in rows for item in row} for rows in (new, old)]
    assert found.unnamed == len(items[0] ^ items[1])


@pytest.mark.parametrize(("rows", "code"), [(["a b"] * 3 + ["c"] * 3, 0), (["a b"] * 4 + ["c"] * 3, 3)])
def test_verify_beside_an_earlier_release(tmp_path, capsys, rows, code):
    from anonset.cli.base.outcome import run

    (tmp_path / "old.dat").write_text("\n".join(["a b"] * 3 + ["c"] * 3) + "\n")
    (tmp_path / "new.dat").write_text("\n".join(rows) + "\n")
    assert run(["verify", str(tmp_path / "new.dat"), "-k", "3", "--previous", str(tmp_path / "old.dat")]) == code
    assert "together with the earlier release" in " ".join(capsys.readouterr().out.split()).lower()
    asked = ["verify", str(tmp_path / "new.dat"), "--model", "privacy-degree", "-p", "2", "--sensitive", "c"]
    assert run([*asked, "--previous", str(tmp_path / "old.dat")]) == 2
