"""A release carries no way back: ids, order, users, degrees and unused vocabulary are gone."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from anonset import ParameterError, Transactions
from anonset.data.job import Job
from anonset.data.release import Draft, GroupCounts, Release
from anonset.models import model_spec
from anonset.unlink import Keep, unlink

SIZE = 200
MODEL = model_spec("k-anonymity")
NO_COUNTS = GroupCounts(np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0, np.int64))


@pytest.fixture
def data():
    lists = [[f"i{i % 7}", f"i{i % 3}"] for i in range(SIZE)]
    made = Transactions.from_lists(lists, users=[f"person {i % 20}" for i in range(SIZE)], sensitive=["i6"])
    ids = pa.array([f"id {i}" for i in range(SIZE)])
    labels = pa.concat_arrays([made.labels, pa.array(["rare"])])
    degrees = np.full(made.nnz, 0.5)
    marks = np.append(made.sensitive, False)
    return replace(made, ids=ids, labels=labels, sensitivity=degrees, sensitive=marks, appearance=None)


def run(data, keep=None, seed=3, model=MODEL):
    return unlink(Draft.of_rows(data), model, Job(seed=seed), keep or Keep())


def test_ids_users_and_degrees_are_gone_and_that_is_said(data):
    release, _, notes = run(data)
    published = release.transactions
    assert published.ids is None
    assert published.users is None
    assert published.user_labels is None
    assert published.sensitivity is None
    assert any("Users are left out" in note for note in notes)


def test_rows_are_shuffled_and_only_the_source_knows_how(data):
    release, source, _ = run(data)
    assert sorted(source) == list(range(SIZE))
    assert (source != np.arange(SIZE)).sum() > SIZE // 2
    assert release.transactions.to_lists() == data.take(source).to_lists()


def test_items_that_are_not_published_are_not_named_either(data):
    release, _, _ = run(data)
    assert "rare" not in release.transactions.labels.to_pylist()
    assert release.transactions.sensitive_names() == ["i6"]


def test_users_become_fresh_pseudonyms_where_the_model_protects_them(data):
    release, source, _ = run(data, model=replace(MODEL, protects_users=True))
    published = release.transactions
    assert not {"person" in name for name in published.user_labels.to_pylist()} & {True}
    pairs = {(int(a), int(b)) for a, b in zip(data.users[source], published.users, strict=True)}
    assert len(pairs) == 20, "one pseudonym for each user"
    assert any(a != b for a, b in pairs), "not in the old order"


def test_the_seed_decides_everything(data):
    one, two, other = run(data)[1], run(data)[1], run(data, seed=4)[1]
    assert np.array_equal(one, two)
    assert not np.array_equal(one, other)


def test_keeping_something_is_explicit_and_warns(data):
    keep = Keep(order=True, ids=True, users=True)
    release, source, _ = run(data, keep)
    assert np.array_equal(source, np.arange(SIZE))
    assert release.transactions.ids is not None
    assert release.transactions.users is not None
    assert len(keep.warnings()) == 3
    assert Keep().warnings() == ()


def test_groups_get_fresh_numbers_and_keep_their_members_and_counts(data):
    groups = (np.arange(SIZE) // 10).astype(np.int32)
    secret = int(np.flatnonzero(data.sensitive)[0])
    counts = GroupCounts(
        np.arange(20, dtype=np.int32), np.full(20, secret, np.int32), np.arange(20, dtype=np.int64) + 1
    )
    draft = Draft(Release(data.quasi(), groups, counts), np.arange(SIZE, dtype=np.int64))
    release, source, _ = unlink(draft, MODEL, Job(seed=1), Keep())
    new_of = dict(zip(groups[source].tolist(), release.groups.tolist(), strict=True))
    assert len(set(new_of.values())) == 20
    assert [new_of[g] for g in range(20)] != list(range(20))
    seen = dict(zip(release.counts.group.tolist(), release.counts.count.tolist(), strict=True))
    assert all(seen[new_of[g]] == g + 1 for g in range(20))
    assert release.transactions.labels[int(release.counts.item[0])].as_py() == "i6"


def test_the_members_of_a_group_stand_in_canonical_order(data):
    groups = (np.arange(SIZE) % 7).astype(np.int32)
    draft = Draft(Release(data.quasi(), groups, NO_COUNTS), np.arange(SIZE, dtype=np.int64))
    release, source, _ = unlink(draft, MODEL, Job(seed=1), Keep())
    place = {label: i for i, label in enumerate(release.transactions.labels.to_pylist())}
    sets = [[place[item] for item in row] for row in release.transactions]
    keys = list(zip(release.groups.tolist(), sets, strict=True))
    assert keys == sorted(keys)
    assert [data.quasi()[int(i)] for i in source] == list(release.transactions)


def test_groups_cannot_be_published_in_the_original_order(data):
    draft = Draft(Release(data.quasi(), np.zeros(SIZE, np.int32), NO_COUNTS), np.arange(SIZE, dtype=np.int64))
    with pytest.raises(ParameterError, match="'keep_order' must be off where groups are published"):
        unlink(draft, MODEL, Job(seed=1), Keep(order=True))
