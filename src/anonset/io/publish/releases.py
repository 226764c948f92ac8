"""`write`: nothing unverified is published.

Precondition   a release and a verdict of a model on it.
Steps          refuse a verdict that does not hold · write under a temporary name · read it back like any other file ·
               compare · let the model check what was read · certificate · put both in place.
Postcondition  the file under the target's name is one that the model has seen and passed, byte for byte, and the
               certificate beside it, if there is one, belongs to it. Otherwise an error, and all is as before.
"""

from __future__ import annotations

import math
import os
import stat
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from anonset.data.errors import GuaranteeError, InputError, OutputError, ShortageError
from anonset.data.quantities import apart
from anonset.data.release import Certificate, Release, Verdict
from anonset.data.transactions import Transactions, as_text, natural_order
from anonset.io.formats.capacity import used_only
from anonset.io.formats.columns import user_names
from anonset.io.formats.registry import Format, format_of
from anonset.io.formats.saving import prepared, write_to
from anonset.io.publish.atomic import Staging, flush, plain_errors, staging
from anonset.io.publish.certificate import certify, sha256, write_certificate
from anonset.io.publish.folders import SharedFolder
from anonset.io.publish.group_reading import is_group_folder
from anonset.io.publish.plan import Output, require_plan, state_of
from anonset.io.publish.signature import require_key, signature_path, signed
from anonset.models import model as make_model


def write(
    release: Release,
    verdict: Verdict,
    path: str | os.PathLike[str],
    *,
    method: str = "",
    params: Mapping[str, Any] | None = None,
    format: str | None = None,
    force: bool = False,
    keep_formulas: bool = False,
    notes: tuple[str, ...] = (),
    sign: str | os.PathLike[str] | None = None,
    shared_folder: SharedFolder = None,
) -> Certificate:
    """Publish a release that keeps its promise: the file and, beside it, `FILE.certificate.json`.

    A release in groups becomes a folder: `transactions` (group, items), `sensitive` (group, item, count) and
    `certificate.json`, as CSV unless `format` or the folder's name says otherwise.

    Parameters
    ----------
    release, verdict
        What to publish, and a model's verdict on it, which must hold.
    path, format, force
        Where and how; the default format is what the name says, and an existing file needs `force`.
    method, params
        What made the release, for the certificate.
    keep_formulas
        Write labels that a spreadsheet would run as a formula as they are.
    notes
        What readers of the certificate should know beyond what it says anyway.
    sign
        An SSH key (`~/.ssh/id_ed25519`): the certificate gets a detached signature, `….certificate.json.sig`.
    shared_folder
        The folder of the output, named once more, where others can write in it and that is wanted all the same.

    Examples
    --------
    >>> import anonset, tempfile
    >>> release = anonset.read_release([["bread", "wine"], ["bread", "wine"]])
    >>> verdict = anonset.verify(release, "k-anonymity", k=2)
    >>> certificate = write(release, verdict, tempfile.mkdtemp() + "/out.dat")
    >>> certificate.promise
    'every published set of quasi-identifier items is shared by at least 2 transactions'
    """
    target = Path(path)
    require_publishable(verdict)
    require_plan(release_outputs(path, release.form), force=force, shared=shared_folder)
    if sign is not None:
        require_key(sign)
    with plain_errors(target), staging(force=force, shared=shared_folder) as stage:
        certificate = stage_release(
            stage,
            release,
            verdict,
            target,
            format=format,
            keep_formulas=keep_formulas,
            key=sign,
            about={"method": method, "params": params, "notes": notes},
        )
        stage.publish()
    return certificate


def stage_release(
    stage: Staging,
    release: Release,
    verdict: Verdict,
    target: Path,
    *,
    format: str | None,
    keep_formulas: bool,
    key: str | os.PathLike[str] | None,
    about: Mapping[str, Any],
) -> Certificate:
    """Prepare a release, its certificate and perhaps a signature, checked once more, for publishing with the rest."""
    require_publishable(verdict)
    if release.form == "groups":
        from anonset.io.publish.groups import stage_groups

        return stage_groups(
            stage, release, verdict, target, format=format, keep_formulas=keep_formulas, key=key, about=about
        )
    chosen = format_of(target, format)
    data, changes = as_published(release.transactions, chosen, keep_formulas)
    temporary = stage.file(target)
    with temporary.open("wb") as file:
        write_to(file, data, chosen)
    flush(temporary)
    certificate = certify(
        verdict,
        {target.name: temporary},
        transactions=len(data),
        sensitive_items=tuple(data.sensitive_names()),
        columns=reading_columns(data, chosen),
        **{**about, "notes": (*about["notes"], *changes)},
    )
    check_again(temporary, chosen, data, verdict)
    if sha256(temporary) != certificate.files[target.name]:
        raise OutputError(f"{target} changed while it was checked. Nothing was published.")
    _stage_certificate(stage, certificate_path(target), certificate, key)
    return certificate


def _stage_certificate(
    stage: Staging, target: Path, certificate: Certificate, key: str | os.PathLike[str] | None
) -> None:
    """The certificate and its signature; those of the release that was there before go first."""
    for old in (target, signature_path(target)):
        if stage.force:
            stage.withdraw(old)
    temporary = stage.file(target)
    write_certificate(temporary, certificate)
    if key is not None:
        stage.file(signature_path(target)).write_bytes(signed(temporary.read_bytes(), key))


def certificate_path(path: Path) -> Path:
    """Where the certificate of a file lies."""
    return path.with_name(path.name + ".certificate.json")


def release_outputs(path: str | os.PathLike[str], form: str = "rows") -> list[Output]:
    """Everything that publishing a release at this path writes or replaces."""
    target = Path(path)
    if form == "groups":
        _require_replaceable(target)
        return [Output("out", target, folder=True)]
    info = state_of(target)
    if str(path).endswith(os.sep) or (info is not None and stat.S_ISDIR(info.st_mode)):
        raise InputError(f"The output must be a file. {target} is a folder; add a file name.")
    beside = certificate_path(target)
    return [Output("out", target), Output("certificate", beside), Output("signature", signature_path(beside))]


def _require_replaceable(folder: Path) -> None:
    if state_of(folder) is not None and folder.is_dir() and any(folder.iterdir()) and not is_group_folder(folder):
        raise InputError(f"The folder {folder} holds other files. Choose another name or empty it first.")


def require_publishable(verdict: Verdict) -> None:
    """An error for a verdict that does not hold."""
    if not verdict.holds:
        raise GuaranteeError(
            f"The release does not keep its promise ({verdict.promise}): {verdict.witnesses[0].statement}. "
            "Nothing was published."
        )


def as_published(data: Transactions, format: Format, keep_formulas: bool) -> tuple[Transactions, tuple[str, ...]]:
    """The release as the file will hold it: nothing in the vocabulary, or its order, that the sets do not say."""
    data = in_natural_order(used_only(apart(data))[0])
    marks = data.sensitive
    unmarked = marks is None or not marks.any()
    data = replace(data, sensitive=None if unmarked else marks)
    # Lines have no place for marks; the certificate names the sensitive items.
    drop = ("sensitive",) if not format.holds.sensitive else ()
    written, notes = prepared(data, format, drop=drop, keep_formulas=keep_formulas)
    return replace(written, sensitive=data.sensitive), notes


def in_natural_order(data: Transactions) -> Transactions:
    """The same transactions with their items numbered in natural order."""
    order = natural_order(data.labels)
    places = np.arange(data.n_items, dtype=np.int32)
    if np.array_equal(order, places):
        return data
    rank = np.empty_like(places)
    rank[order] = places
    return Transactions.from_codes(
        data.offsets,
        rank[data.items],
        data.labels.take(pa.array(order)),
        users=data.users,
        user_labels=data.user_labels,
        ids=data.ids,
        sensitive=None if data.sensitive is None else data.sensitive[order],
        sensitivity=data.sensitivity,
        counts=data.counts,
        attributes=None if data.attributes is None else data.attributes.take(pa.array(order)),
        columns=data.columns,
        count_as=data.count_as,
    )


def check_again(path: str | os.PathLike[str], format: Format, data: Transactions, verdict: Verdict) -> None:
    """Read the release as anybody would and let the model judge what was read."""
    from anonset.io.source.reading import read

    names = data.sensitive_names()
    options: dict[str, Any] = {"sensitive": names} if names and not format.holds.sensitive else {}
    options |= reading_columns(data, format)
    try:
        found = read(path, format=format.name, **options)
    except ShortageError:
        raise
    except InputError as error:
        raise _unlike(format) from error
    if not same(data, found):
        raise _unlike(format)
    again = make_model(verdict.model, **verdict.params).check(Release(found))
    if not again.holds:
        raise GuaranteeError(
            f"The file does not keep its promise ({again.promise}): {again.witnesses[0].statement}. "
            "Nothing was published."
        )
    if again.promise != verdict.promise or not _agree(again.measured, verdict.measured):
        raise GuaranteeError(
            "The verdict does not fit the release: checking it again gives other figures. Nothing was published. "
            "Check the very release that is written."
        )


def reading_columns(data: Transactions, format: Format) -> dict[str, str]:
    """The options that read columns beside the items again."""
    return {} if data.columns is None else data.columns.as_options(format.holds.parts(data))


def _unlike(format: Format) -> OutputError:
    return OutputError(
        f"What was read back from the {format.name} file is not what was written. Nothing was published. "
        "Try another format, and please report it: this is a defect or a failing disk."
    )


def same(one: Transactions, other: Transactions) -> bool:
    """Whether both say the same, transaction by transaction: items, sensitive items, users, ids, degrees, counts."""
    if not len(one):
        return not len(other)
    if not one.same_sets(other) or sorted(one.sensitive_names()) != sorted(other.sensitive_names()):
        return False
    if not _equal_texts(_user_names(one), _user_names(other)):
        return False
    if one.ids is not None and not _equal_texts(one.ids, other.ids):
        return False
    mine, theirs = in_natural_order(one), in_natural_order(other)
    if not _equal_texts(mine.attributes, theirs.attributes):
        return False
    pairs = ((mine.sensitivity, theirs.sensitivity), (mine.counts, theirs.counts))
    return all(
        there is None if here is None else there is not None and np.array_equal(here, there) for here, there in pairs
    )


def _user_names(data: Transactions) -> pa.StringArray | None:
    return None if data.users is None or data.user_labels is None else as_text(user_names(data))


def _equal_texts(some: pa.StringArray | None, others: pa.StringArray | None) -> bool:
    return others is None if some is None else others is not None and bool(some.equals(others))


def _agree(some: Mapping[str, Any], others: Mapping[str, Any]) -> bool:
    """Whether two sets of figures are equal, but for the last digits of fractions."""
    return some.keys() == others.keys() and all(_equal(some[name], others[name]) for name in some)


def _equal(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12) or (math.isnan(one) and math.isnan(other))
    return bool(one == other)
