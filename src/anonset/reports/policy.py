"""The content security policy of a page: nothing runs in it and nothing styles it but what it was made with.

A page holds names of items, which come from somebody's data. They are escaped, and should that ever fail, the browser
still runs only the scripts, and applies only the styles, whose sha256 the policy names; there is no `unsafe-inline`.
"""

from __future__ import annotations

import base64
import hashlib
import re

PLACE = "CONTENT-SECURITY-POLICY"
"""What the templates hold in the place of the policy."""

_SCRIPT = re.compile(r"<script>(.*?)</script>", re.DOTALL)
_STYLE = re.compile(r"<style>(.*?)</style>", re.DOTALL)

_OWN_STYLE = re.compile(r'getElementById\("([0-9a-f]{64})"\)')

_EMPTY = ""
"""Plotly makes an empty style element and fills it rule by rule, which a policy does not look at."""


def sealed(page: str) -> str:
    """The page with the policy that names every script and every style that it holds itself.

    Examples
    --------
    >>> sealed("<meta content=\\"CONTENT-SECURITY-POLICY\\"><script>1</script>").count("sha256-")
    2
    """
    scripts = _hashes(_SCRIPT.findall(page)) or "'none'"
    styles = _hashes([*_STYLE.findall(page), _EMPTY])
    policy = (
        f"default-src 'none'; script-src {scripts}; style-src {styles}; img-src data: blob:; "
        "base-uri 'none'; form-action 'none'"
    )
    return page.replace(PLACE, policy, 1)


def own_styles(script: str) -> list[str]:
    """The ids under which Plotly would add styles for maps, unless there is something of that id: we draw no maps."""
    return list(dict.fromkeys(_OWN_STYLE.findall(script)))


def _hashes(texts: list[str]) -> str:
    digests = (base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in texts)
    return " ".join(dict.fromkeys(f"'sha256-{digest}'" for digest in digests))
