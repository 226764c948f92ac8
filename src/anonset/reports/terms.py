"""Every term of art that a page for people outside the field may use, explained in one plain sentence."""

from __future__ import annotations

import re
from collections.abc import Iterable

TERMS: tuple[tuple[str, str, str], ...] = (
    (r"transaction", "Transaction", "What one record holds: a basket, a visit, a stay; a set of items."),
    (r"\bitems?\b", "Item", "A single thing in a record: a product, a diagnosis, a page that was visited."),
    (r"itemset", "Itemset", "Several items taken together."),
    (r"sensitive", "Sensitive item", "An item that nobody should learn about a person."),
    (
        r"quasi-identifier|ordinary",
        "Quasi-identifier, ordinary items",
        "All that are not sensitive: what somebody may know.",
    ),
    (r"\bpublished set", "Published set", "All quasi-identifier items of one published transaction."),
    (r"\busers?\b", "User", "The person behind one or several transactions."),
    (r"\bgroups?\b", "Group", "Transactions that are published together so that they cannot be told apart."),
    (r"categor|hierarchy", "Category", "A broader name that is published instead of an item: dairy for milk."),
    (r"attribute", "Attribute", "A kind of item, of which only the number is published."),
    (r"\bpatterns?\b", "Pattern", "Items that turn up again and again in the transactions of a user."),
    (r"\brelease\b", "Release", "The file that is published."),
    (r"attack", "Attack", "A way to find out about a person, tried out as somebody with that knowledge would."),
    (r"for certain", "For certain", "Only one candidate is left, and it is the right one."),
    (r"\bmethod\b", "Method", "The procedure that changed the data; its name and settings are for repeating it."),
    (r"sha256", "sha256", "A fingerprint: a file with the same one is the same file, bit for bit."),
    (r"diversity", "Diversity", "Among transactions that look alike, a sensitive item is at most in one of so many."),
    (r"pseudonym", "Pseudonym", "A made-up name that is the same in all records of a person."),
    (r"privacy degree", "Privacy degree", "In a group a sensitive item is at most in one of so many transactions."),
)
"""When a text needs a term (as a pattern), the term, and what it means."""


def terms_in(texts: Iterable[str]) -> list[tuple[str, str]]:
    """The terms that these texts use, with what they mean.

    Examples
    --------
    >>> [term for term, _ in terms_in(["3 transactions in groups"])]
    ['Transaction', 'Group']
    """
    text = "\n".join(texts).lower()
    return [(term, meaning) for pattern, term, meaning in TERMS if re.search(pattern, text)]
