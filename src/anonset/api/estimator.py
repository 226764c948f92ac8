"""An object for pipelines in the manner of scikit-learn, without a step that could publish unchecked rows."""

from __future__ import annotations

from typing import Any

from anonset.data.errors import InputError
from anonset.data.release import Result
from anonset.pipeline import anonymize


class Anonymizer:
    """Anonymizes what it is fitted on, as the last step before data leave: `fit_transform` gives the published frame.

    There is no `transform` for other rows: a promise speaks about all published rows together, and rows that were not
    there when it was checked could break it. Anonymize old and new rows together, or as a batch of their own (see
    `Targets.ledger`). A row of the output is not the row of the input at the same place: the order is a new one.

    Parameters
    ----------
    accept
        What is given out although the outcome stands against it, as in `Targets.accept`.
    params
        Those of `anonset.anonymize`: `method="crowd"`, `k=10`, `transaction="receipt"`, ….

    Attributes
    ----------
    result_
        The `Result` of the last fit: verdict, findings, `write`, `report`, `dossier`.

    Examples
    --------
    >>> import anonset
    >>> safe = anonset.Anonymizer(method="crowd", k=2, seed=1)
    >>> safe.fit_transform([["wine", "bread"]] * 3 + [["beer"]] * 3)
    Transactions(6 transactions, 3 items, mean length 1.5)
    >>> safe.result_.verdict.holds
    True
    """

    result_: Result

    def __init__(self, *, accept: str | tuple[str, ...] = (), **params: Any) -> None:
        self._params = {"accept": accept, **params}

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters, as scikit-learn asks for them."""
        return dict(self._params)

    def set_params(self, **params: Any) -> Anonymizer:
        """Change parameters; the result of an earlier fit stays until the next one."""
        self._params |= params
        return self

    def fit(self, data: Any, y: None = None) -> Anonymizer:
        """Anonymize `data`, and check and keep the result; `y` must be None: labels beside rows would undo it."""
        if y is not None:
            raise InputError(
                "y must be left out: rows come out in a new order, so labels beside them would go astray. "
                "Name such a column as an attribute instead."
            )
        params = {name: value for name, value in self._params.items() if name != "accept"}
        self.result_ = anonymize(data, **params)
        return self

    def fit_transform(self, data: Any, y: None = None) -> Any:
        """The published data in the form in which they came: a pandas, Polars or Arrow frame, else `Transactions`.

        What stands against publishing them raises an `OutcomeError`, as writing them would.
        """
        result = self.fit(data, y).result_
        findings = result.findings
        if findings is not None:
            findings.accepting(self._params["accept"]).require()
        kind = type(data).__module__.partition(".")[0]
        gives = {"pandas": result.to_pandas, "polars": result.to_polars, "pyarrow": result.to_arrow}
        return gives[kind]() if kind in gives else result.release.transactions

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "result_")

    def __repr__(self) -> str:
        return f"Anonymizer({', '.join(f'{name}={value!r}' for name, value in self._params.items() if value != ())})"
