"""The lowest versions that the package asks for, as constraints for pip: a job of CI tests with exactly these.

    python -m tools.lowest > lowest.txt
    pip install -c lowest.txt . pytest hypothesis pytest-timeout
    pytest tests/golden tests/io/test_convert.py ...

Packages that only tests use come in their oldest versions that work with these.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

BESIDE = ("pandas==2.2.*",)


def lowest() -> list[str]:
    """`name==bound.*` for each dependency."""
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    found = (re.match(r"([\w-]+)>=([\d.]+)", one) for one in project["dependencies"])
    return [f"{one[1]}=={one[2]}.*" for one in found if one is not None]


def main() -> None:
    """Print them, one on a line."""
    print("\n".join([*lowest(), *BESIDE]))


if __name__ == "__main__":
    main()
