"""How numbers, prices, dates, codes, addresses and the like are written: data, no code."""

from collections.abc import Mapping, Sequence

_BLOCKS = {
    "punctuated": r"""
        {cased}. {cased}, {cased}: {cased}; {cased}! {cased}? {cased}... {cased}!! {cased}* {cased}'
        {cased}) "{cased} '{cased} ({cased} #{cased} @{cased} *{cased} ${cased} &{cased} -{cased}
        ~{cased} ^{cased} <{cased} "{cased}" '{cased}' ({cased}) [{cased}] {{{cased}}} <{cased}>
        *{cased}* {cased}?! {cased}> {cased}] {cased}= _{cased}_ `{cased}` |{cased}| {cased}\
    """,
    "possessives": "{word}'s {Word}'s {WORD}'S {Word}s' {WORD}S' {Word}'",
    "hyphenated": r"""
        {word}-{word} {Word}-{Word} {WORD}-{WORD} {Word}-{word} {WORD}-{digit} {Word}&{Word}
        {WORD}&{WORD} {Word}/{Word} {WORD}/{WORD} {word}_{word} {Word}+{Word} {word}.{word}
        {WORD}|{WORD} {Word},{Word} {word}\{word}
    """,
    "joined": "{word}{word} {Word}{Word} {WORD}{WORD} {Word}{word} {word}{WORD}",
    "numbers": """
        {digit} {two} {natural} {natural} {natural}{digit} {natural}{two} {year} {three}{three}
        {three}{three}{three} {natural},{three} {two},{three},{three} {natural}.{digit}
        {digit}.{two} {natural}% {digit}.{digit}% -{natural} +{natural} {digit}/{digit} 1st 2nd 3rd
        {two}th {two}TH #{natural} No.{natural} {natural}+ ({natural}) {digit}x{two}
        {two}km {natural}kg {natural}ml {natural}m {two}cm {digit}L {digit}={digit} {two}*{two}
        <{two} >{two}
    """,
    "prices": """
        ${natural} ${digit}.{two} ${natural}.{two} ${natural}.00 ${digit}.99 {natural}.{two}
        {digit},{two} ${natural},{three} {natural}$ {two}c ${two}/kg £{natural} €{natural}.{two}
        {natural}€ USD{natural} {two}%OFF @{digit}.{two}
    """,
    "dates": """
        {day}/{month}/{year} {day}.{month}.{year} {year}-{month}-{day} {month}/{day}
        {day}-{month}-{two} {day}{MONTH}{year} {MONTH}-{two} {month}/{two} {year}-{year}
        {Month}.{day} '{two} {two}s {year}s {Month}{year} {day}.{month}.
    """,
    "times": """
        {hour}:{minute} {hour}:{minute}:{minute} {hour}.{minute} {hour}h{minute} {digit}:{minute}am
        {digit}:{minute}PM {digit}pm {digit}AM {digit}-{digit} {hour}:{minute}-{hour}:{minute}
        {digit}a.m. 24h 24/7 {digit}am-{digit}pm
    """,
    "phones": """
        {three}-{three}-{two}{two} ({three}){three}-{two}{two} {three}-{two}{two} ({three})
        +{two}{three}{three}{three} {three}.{three}.{two}{two} 0{three}/{three}{three}
        1-800-{WORD} 0800-{three}{three} {two}-{two}-{two}-{two}
    """,
    "codes": """
        {A}{digit} {A}{two} {A}{A}{two} {A}{A}{three} {A}{A}{A}{three} {A}-{two}
        {A}{A}{two}{A}{A}{A} {three}-{A}{A}{A} {A}{A}-{three}-{A}{A} {digit}{A}{A}{A}{three}
        {A}{digit}{A}{digit}{A}{digit} {two}{A} {digit}{A} {A}{three}-{three} {A}/{two}
        {A}{A}_{three} {a}{three} {a}{digit}{a}{digit} {WORD}{two} {word}{three}
    """,
    "addresses": r"""
        www.{word}.com {word}.com {WORD}.COM {Word}.com www.{word}.org {word}.net http://{word}.com
        https://{word} {word}.co.uk {word}.{word} {word}.io/{word} {word}@{word}.com
        {word}.{word}@{word} #{word} #{Word}{Word} @{word} @{word}{two} @{word}_{word}
        /{word}/{word} ?{word}={digit} {word}.html ~{word} C:\{word}
    """,
    "abbreviations": """
        {A}. {A}.{A}. {A}.{A}.{A}. {A}.{A} {A}&{A} {A}{A} {A}{A}{A} {A}{A}{A}{A} {A}{A}{A}s
        {A}.{Word} {A}/{A} Mr. Mrs. Dr. St. Co. Ltd. Inc. No.
    """,
}
_PHRASES = ["{cased} {cased}", "{word} {word} {word}", "{WORD} {WORD}", "{Word} {natural}"]
PATTERNS: Mapping[str, Sequence[str]] = {
    **{name: block.split() for name, block in _BLOCKS.items()},
    "phrases": _PHRASES,
}
"""Ingredients that are written by a pattern. Besides ``FIELDS`` there are words: ``{word}`` as
listed, ``{Word}``, ``{WORD}``, and ``{cased}`` in any of these cases."""

_MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
_CAPITALS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
FIELDS: Mapping[str, Sequence[str]] = {
    "digit": "0123456789",
    "two": [f"{number:02}" for number in range(100)],
    "three": [f"{number:03}" for number in range(1000)],
    "natural": [str(number) for digits in (1, 2, 3) for number in range(1, 10**digits, digits**2)],
    "year": [str(year) for year in range(1850, 2050)],
    "day": [f"{day:02}" for day in range(1, 32)] + [str(day) for day in range(1, 10)],
    "month": [f"{month:02}" for month in range(1, 13)] + [str(month) for month in range(1, 10)],
    "Month": _MONTHS,
    "MONTH": [month.upper() for month in _MONTHS],
    "hour": [f"{hour:02}" for hour in range(24)] + [str(hour) for hour in range(10)],
    "minute": [f"{minute:02}" for minute in range(60)] + ["00", "15", "30", "45"] * 5,
    "A": _CAPITALS,
    "a": _CAPITALS.lower(),
}
"""What a field of a pattern stands for, besides words."""
