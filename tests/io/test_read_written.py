"""What `save` writes, `read` reads back: sets, ids, users, marks and degrees, in every format."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from anonset import Transactions
from anonset.io import read
from anonset.io.formats.registry import LAYOUTS
from anonset.io.formats.saving import save

FORMATS = [
    f"{layout}.{container}" if container != "text" else layout
    for layout in LAYOUTS
    for container in LAYOUTS[layout].containers
]
PLAIN = st.text("ab0-7.é漢#@%=:'[]{}\\/", min_size=1, max_size=9)
ODD = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\ufeff"), min_size=1, max_size=5)


@st.composite
def transactions(draw, layout):
    labels = (
        PLAIN if not layout.white_space else st.one_of(PLAIN, ODD, st.sampled_from([" a", "a ", "a,b", '"', "x y"]))
    )
    if not layout.line_breaks:
        labels = labels.filter(lambda label: not set(label) & set("\r\n\v\f\x85\u2028\u2029"))
    if layout.name == "wide":
        labels = labels.filter(lambda label: label.strip() == label and label not in ("transaction", "user"))
    lists = draw(st.lists(st.lists(labels, max_size=4), min_size=1, max_size=5))
    data = Transactions.from_lists(lists)
    columns = {"sensitive": data.sensitive, "sensitivity": None, "users": None, "user_labels": None, "ids": None}
    if layout.sensitive and draw(st.booleans()):
        columns["sensitive"] = np.array(
            draw(st.lists(st.booleans(), min_size=data.n_items, max_size=data.n_items)), bool
        )
    if layout.degrees and draw(st.booleans()):
        degrees = st.floats(0, 1)
        columns["sensitivity"] = np.array(draw(st.lists(degrees, min_size=data.nnz, max_size=data.nnz)), float)
    if layout.users and draw(st.booleans()):
        owners = draw(st.lists(st.integers(0, 2), min_size=len(data), max_size=len(data)))
        columns |= {"users": np.unique(owners, return_inverse=True)[1].astype(np.int32)}
        columns["user_labels"] = pa.array([f"u{user}" for user in sorted(set(owners))])
    if layout.ids:
        columns["ids"] = pa.array([f"t {place}" for place in range(len(data))])
    return Transactions(data.offsets, data.items, data.labels, **columns)


@pytest.mark.parametrize("format", FORMATS)
def test_what_is_written_is_read_back(format, tmp_path_factory):
    folder = tmp_path_factory.mktemp("written")

    @settings(max_examples=12)
    @given(transactions(LAYOUTS[format.partition(".")[0]]))
    def check(data):
        assume(data.n_items or not format.startswith("wide"))
        path = folder / "a"
        path.unlink(missing_ok=True)
        save(data, path, format, keep_formulas=True)
        back = read(path, format=format, header=False if "." not in format else None)
        same(back, data)

    check()


def same(back, data):
    assert back.to_lists() == data.to_lists()
    assert [note for note in back.notes if "blanks at the ends" not in note] == []
    held = {item for row in data.to_lists() for item in row}
    alike = [
        item for item in held if item.strip() != item and any(o != item and o.strip() == item.strip() for o in held)
    ]
    assert len(back.notes) == bool(alike)
    assert (back.users is None) == (data.users is None)
    if data.users is not None:
        assert back.users.tolist() == data.users.tolist()
        assert back.user_labels == data.user_labels
    if data.ids is not None:
        assert back.ids == data.ids
    if data.sensitive is not None:
        marked = {label for label in data.sensitive_names() if label in {item for row in data for item in row}}
        assert set(back.sensitive_names()) == marked
    if data.sensitivity is not None:
        np.testing.assert_allclose(back.sensitivity, data.sensitivity, rtol=1e-15)
