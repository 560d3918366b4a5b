"""Texts that machines show and print: readings, clocks, counters, dates, codes, MRZ."""

import re

_UNIT = (
    r"°C|°F|°|kg|g|lb|V|mV|A|mA|W|kW|kWh|m³|Hz|kHz|MHz|rpm|bar|hPa|kPa|psi|mm|cm|km|km/h|mph"
    r"|mL|dB|pH|ppm|bpm|mmHg|mg/dL|mmol/L|lx|Ω|kΩ|MΩ|%"
)
_MAY_BE = re.compile(r"[\d<]|^-|^Err")
"""Characters that every reading of a machine has, and nearly no word."""
_MOSTLY = re.compile(
    rf"""
    [-+]?\ ?\d+(?:[.,]\d+)?\ ?(?:{_UNIT})           # 23.5 °C, 0.845 kg
    | \d?\d:\d\d(?:[:.]\d\d?)?                     # 12:45
    | 0\d{{2,6}}(?:[.,]\d)?                         # 004711
    | \d{{5,6}}[.,]\d                               # counters
    | -{{1,2}}(?::-{{1,2}})+ | -+[.]?-+             # nothing to show
    | [EFHPLUdAC][- ]?\d{{1,3}} | Err(?:\ ?\d+)?    # E04, L23
    | (?:EXP|LOT|BBE|MFG|PROD|SN|S/N)[.:]?\ ?[0-9A-Z][-0-9A-Z./: ]*
    | L\ ?\d{{3,}}[A-Z]?(?:\ \d\d?:\d\d)?
    | \d{{7}}[MF]\d{{7}}                              # dates of passports
    | (?=[A-Z0-9]*<)[A-Z0-9<]{{8,}}                  # P<UTOERIKSSON<<ANNA<MARIA
    """,
    re.VERBOSE,
)
_AT_TIMES = re.compile(
    r"""
    -?\d{1,4}[.]\d{1,3}                             # 0.845
    | \d{3,8}
    | \d\d?[./]\d\d?[./](?:\d\d|\d{4})(?:\ \d\d?:\d\d)? | \d\d/\d{4}   # 12.05.2026
    | \d?\d:\d\d\ ?[AaPp][Mm]
    | \d{2,3}/\d{2,3}
    """,
    re.VERBOSE,
)
_OF_OTHERS = 0.25
"""Share of texts that machines show at times, and people as often."""
_UNIT_AT_END = re.compile(rf"(?<=\d)\ ?(?:{_UNIT})$")
_COUNT = re.compile(r"\d{4,8}(?:[.,]\d)?")


def share_of_machines(text: str) -> float:
    """How many of such texts displays, printers of dates and readers of passports show, at most 1.

    >>> share_of_machines("23.5 °C"), share_of_machines("2026"), share_of_machines("May")
    (1.0, 0.25, 0.0)
    """
    if not _MAY_BE.search(text):
        return 0.0
    if _MOSTLY.fullmatch(text):
        return 1.0
    return _OF_OTHERS if _AT_TIMES.fullmatch(text) else 0.0


def is_count(text: str) -> bool:
    """Whether it is what wheels of counters show: digits and perhaps a point.

    >>> is_count("004711"), is_count("12:45")
    (True, False)
    """
    return _COUNT.fullmatch(text) is not None


def is_passport_line(text: str) -> bool:
    """Whether it is a line, or a part of one, that machines read in passports."""
    return "<" in text and text.isupper() and " " not in text


def without_unit(text: str) -> str:
    """A reading without its unit, which is mostly printed beside the display.

    >>> without_unit("0.845 kg"), without_unit("12:45")
    ('0.845', '12:45')
    """
    return _UNIT_AT_END.sub("", text)
