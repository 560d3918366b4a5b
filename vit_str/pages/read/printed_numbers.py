"""Printed numbers as numbers, by the decimal sign of their page."""

import re
from collections.abc import Iterable
from typing import NamedTuple

_SIGNS = "-+−–"
_MINUS = "-−–"
_GROUP_SIGNS = " \u00a0\u202f'’"  # between thousands, whatever the decimal sign
_CURRENCY = "[$€£¥₩₹]|EUR|USD|GBP|CHF|JPY|SEK|NOK|DKK|PLN|CZK|HUF|Fr\\.|kr|zł|Kč"
_NUMBER = re.compile(
    rf"(?P<sign>[{_SIGNS}]\s?)?(?P<before>{_CURRENCY})?\s?"
    rf"(?P<inner>[{_SIGNS}])?(?P<digits>[0-9][0-9.,{_GROUP_SIGNS}]*[0-9]|[0-9])"
    rf"\s?(?P<after>%|{_CURRENCY})?"
)
_MOST_DIGITS = 15  # of a number, which a spreadsheet keeps without loss
_FEWEST_GROUPED = 3
"""Numbers such as 1,234, and none with another count of digits behind the sign, that tell that it
parts thousands."""


class Number(NamedTuple):
    """A number as it is printed.

    Attributes:
        value: what it is worth; 0.125 for 12.5 %.
        decimals: digits behind the decimal sign.
        is_grouped: whether thousands are set apart.
        before: a currency before it.
        after: a currency behind it, or %.
    """

    value: float
    decimals: int
    is_grouped: bool
    before: str = ""
    after: str = ""


def decimal_sign(texts: Iterable[str]) -> str | None:
    """The decimal sign of a page, a point or a comma; None if its numbers leave it open.

    Args:
        texts: words or cells of the page.
    """
    votes = {".": 0, ",": 0}
    grouped: dict[str, set[str]] = {".": set(), ",": set()}
    for text in texts:
        match = _NUMBER.fullmatch(text.strip())
        if match is None:
            continue
        digits = match["digits"]
        signs = [letter for letter in digits if letter in votes]
        if not signs:
            continue
        last = signs[-1]
        behind = len(digits) - digits.rindex(last) - 1
        if len({*signs}) == 2 and signs.count(last) == 1:
            votes[last] += 1
        elif len(signs) > 1:
            votes[_other(last)] += 1
        elif behind == 3 and digits[0] != "0":
            grouped[last].add(digits)
        else:
            votes[last] += 1
    if votes["."] != votes[","]:
        return max(votes, key=lambda sign: votes[sign])
    for sign, numbers in grouped.items():
        if not any(votes.values()) and len(numbers) >= _FEWEST_GROUPED:
            return _other(sign)
    return None


def number_in(text: str, decimal: str | None) -> Number | None:
    """The number that a text is; None for all else.

    Codes with a leading zero, dates, times, telephone numbers and numbers that a spreadsheet would
    round are texts. So is a number such as 1,234 where nothing tells its decimal sign.

    Args:
        text: of a cell.
        decimal: the decimal sign of the page, see `decimal_sign`.
    """
    match = _NUMBER.fullmatch(text.strip())
    if match is None or (match["sign"] and match["inner"]):
        return None
    if match["before"] and match["after"]:
        return None
    parsed = _digits(match["digits"], decimal)
    if parsed is None:
        return None
    value, decimals, is_grouped = parsed
    sign = (match["sign"] or match["inner"] or "").strip()
    if sign and sign in _MINUS:
        value = -value
    after = match["after"] or ""
    if after == "%":
        value /= 100
    return Number(value, decimals, is_grouped, match["before"] or "", after)


def _digits(text: str, decimal: str | None) -> tuple[float, int, bool] | None:
    """Value, decimals, and whether thousands are set apart."""
    whole, fraction = text, ""
    if decimal and text.count(decimal) == 1:
        whole, _, fraction = text.partition(decimal)
    if not (fraction.isdigit() or not fraction):
        return None
    groups = re.split(rf"[.,{_GROUP_SIGNS}]", whole)
    used = {*re.findall(rf"[.,{_GROUP_SIGNS}]", whole)}
    if not decimal and used & {".", ","}:
        return None
    if decimal in used or len(used) > 1:
        return None
    first, *rest = groups
    if any(len(group) != 3 for group in rest) or (rest and not 1 <= len(first) <= 3):
        return None
    digits = "".join(groups)
    if not digits.isdigit() or (len(digits) > 1 and digits[0] == "0"):
        return None
    if len(digits) + len(fraction) > _MOST_DIGITS:
        return None
    return float(f"{digits}.{fraction or 0}"), len(fraction), bool(rest)


def _other(sign: str) -> str:
    return "," if sign == "." else "."
