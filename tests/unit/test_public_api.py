"""The public names are a promise: adding one is a decision, losing one is a break."""

import subprocess
import sys

import anonset

PUBLIC = """
    METHODS MODELS AnonsetError CancelledError Certificate Cut DataError ExistsError GuaranteeError Hierarchy
    InfeasibleError InputError Job Keep OutputError ParameterError Release Result Targets Transactions Verdict
    WaitingError __version__ anonymize check convert expected model publish query read read_cut
    read_hierarchy read_release recode sampled verify write write_report
""".split()


def test_the_public_names_are_exactly_these():
    assert sorted(anonset.__all__) == sorted(PUBLIC)


def test_every_public_name_is_there_and_documented():
    for name in anonset.__all__:
        value = getattr(anonset, name)
        if callable(value):
            assert value.__doc__, f"{name} has no docstring"


def test_the_lazy_table_and_the_public_list_agree():
    assert {*anonset._HOMES, "__version__"} == set(anonset.__all__)


def test_importing_the_package_loads_nothing_heavy():
    heavy = "numpy pyarrow duckdb scipy plotly pandas polars".split()
    code = f"import sys, anonset; print([m for m in {heavy} if m in sys.modules])"
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"
    )


def test_an_unknown_attribute_is_an_attribute_error():
    assert not hasattr(anonset, "anonimize")
