"""How numbers, prices, dates, codes, addresses and the like are written: data, no code."""

from collections.abc import Mapping, Sequence

_BLOCKS = {
    "punctuated": r"""
        {cased}. {cased}, {cased}: {cased}; {cased}! {cased}? {cased}... {cased}!!
        {cased}* {cased}' {cased}) "{cased} '{cased} ({cased} #{cased} @{cased}
        *{cased} ${cased} &{cased} -{cased} ~{cased} ^{cased} <{cased} "{cased}"
        '{cased}' ({cased}) [{cased}] {{{cased}}} <{cased}> *{cased}* {cased}?!
        {cased}> {cased}] {cased}= _{cased}_ `{cased}` |{cased}| {cased}\
    """,
    "typography": """
        „{cased}“ „{Word} „{cased}“, “{cased}” “{cased}” “{Word} {cased}” {word},”
        {word}.” ‘{cased}’ ‘{word} {cased}’ ‚{word}‘ ‚{Word}‘ ‚{WORD}‘ ‚{Word} «{cased}»
        «{Word} {word}» »{cased}« »{word} ‹{cased}› ‹{word}› ›{cased}‹ {word}’s {Word}’s
        {WORD}’S {Word}s’ {Word}’ ’{two} ’{two}s {a}’{word} {A}’{Word} {word}’{a}
        {cased}… …{word} {word}… …{word}… {cased}– –{word} {Word}–{Word} {year}–{year}
        {two}–{two} –{natural} {cased}— —{cased} {word}—{word} {word}— •{cased} •{Word}
        ·{Word} {Word}·{Word} {word}·{word} {cased}† †{cased} †{year} {cased}‡ ‡{word}
        §{two} §{digit} §§{two} {digit}§ ¶{two} ¶{word} {digit}° {two}° {two}°C {two}°F
        {digit}°{two}′ {two}°{two}′ {two}°{two}′{two}″ {two}′{A} {digit}′{two}″ {digit}″
        {two}″ {cased}{raised} {word}{raised} {word}{raised} {Word},{raised}
        {word}.{raised} {word}){raised} {A}{raised} {two}{raised} 10{raised}
        {raised}{raised} {raised}{Word} {fraction} {fraction} {digit}{fraction}
        {digit}{fraction} {two}{fraction} {two}{fraction} {digit}{fraction}″ m² m³ cm²
        {two}m² №{two} №{natural} {digit}ª {digit}º {A}ª Nº{two} n.º {two}µm {digit}µg
        µ{A} {two}µ {two}‰ {digit}.{digit}‰ {digit}‰ {Word}™ {WORD}™ {Word}® {WORD}®
        ©{year} ©{Word} {two}×{two} {digit}×{digit} {two}÷{digit} {digit}÷{digit} ±{two}
        ±{digit}% {two}±{digit} ≤{two} ≥{two} ≈{two} ≤{digit} {A}≠{A} {digit}≤{a}
        {a}≥{digit} ≈{digit}.{digit} {digit}≠{digit} -∞ √{digit} √{two} √{a} {A}→{A}
        →{word} {Word}→ {word}← ←{Word} ↑{two}% ↓{two}% {two}↑ {two}↓ ¡{Word}! ¿{Word}?
        ¡{WORD}! ¿{WORD}? ¿{word}
    """,
    "signs": """
        … – — • ‡ † ¶ № © ® ™ ∞ → ← ↑ ↓ ■ □ ▪ ● ○ ✓ ✗ ▶ ▲ ▼ ■{cased} ■{word} □{cased}
        □{word} ▪{cased} ▪{Word} ●{cased} ●{Word} ○{cased} ○{word} ★★★★★ ★★★★☆ ★★★☆☆
        {cased}★ ★{cased} ☆{cased} ✓{cased} ✓{word} ✗{cased} ✗{word} ▶{cased} ▶{Word}
        ▲{two}% ▲{cased} ▼{two}% ▼{cased}
    """,
    "currencies": """
        €{natural} €{natural},{two} {natural}€ {natural},{two}€ £{natural}
        £{digit}.{two} £{two} ¥{natural} ¥{digit},{three} {natural}¢ {two}¢ ¢{two}
        {two},{three}₫ {three}.{three}₫ {natural}.000₫ ₩{natural},{three} ₩{three}
        {natural}₩ {natural}₴ {two}₴ ₴{natural} ₺{natural} ₺{natural},{two}
        {natural}₺ ₹{natural} ₹{natural},{three} ₹{two} {natural}₽ {natural},{two}₽
        {three}₽ ₦{natural},{three} ₦{natural} ₦{three} ₱{natural} ₱{natural}.{two}
        ₱{two} {natural}₼ {two}₼ ₼{two} {digit}.{two}£ CHF{natural}.–
    """,
    "possessives": "{word}'s {Word}'s {WORD}'S {Word}s' {WORD}S' {Word}'",
    "hyphenated": r"""
        {word}-{word} {Word}-{Word} {WORD}-{WORD} {Word}-{word} {WORD}-{digit}
        {Word}&{Word} {WORD}&{WORD} {Word}/{Word} {WORD}/{WORD} {word}_{word}
        {Word}+{Word} {word}.{word} {WORD}|{WORD} {Word},{Word} {word}\{word}
    """,
    "joined": "{word}{word} {Word}{Word} {WORD}{WORD} {Word}{word} {word}{WORD}",
    "numbers": """
        {digit} {two} {natural} {natural} {natural}{digit} {natural}{two} {year}
        {three}{three} {three}{three}{three} {natural},{three} {two},{three},{three}
        {natural}.{digit} {digit}.{two} {natural}% {digit}.{digit}% -{natural}
        +{natural} {digit}/{digit} 1st 2nd 3rd {two}th {two}TH #{natural}
        No.{natural} {natural}+ ({natural}) {digit}x{two} {two}km {natural}kg
        {natural}ml {natural}m {two}cm {digit}L {digit}={digit} {two}*{two} <{two}
        >{two}
    """,
    "prices": """
        ${natural} ${digit}.{two} ${natural}.{two} ${natural}.00 ${digit}.99
        {natural}.{two} {digit},{two} ${natural},{three} {natural}$ {two}c ${two}/kg
        £{natural} €{natural}.{two} {natural}€ USD{natural} {two}%OFF @{digit}.{two}
    """,
    "dates": """
        {day}/{month}/{year} {day}.{month}.{year} {year}-{month}-{day} {month}/{day}
        {day}-{month}-{two} {day}{MONTH}{year} {MONTH}-{two} {month}/{two}
        {year}-{year} {Month}.{day} '{two} {two}s {year}s {Month}{year}
        {day}.{month}.
    """,
    "times": """
        {hour}:{minute} {hour}:{minute}:{minute} {hour}.{minute} {hour}h{minute}
        {digit}:{minute}am {digit}:{minute}PM {digit}pm {digit}AM {digit}-{digit}
        {hour}:{minute}-{hour}:{minute} {digit}a.m. 24h 24/7 {digit}am-{digit}pm
    """,
    "phones": """
        {three}-{three}-{two}{two} ({three}){three}-{two}{two} {three}-{two}{two}
        ({three}) +{two}{three}{three}{three} {three}.{three}.{two}{two}
        0{three}/{three}{three} 1-800-{WORD} 0800-{three}{three}
        {two}-{two}-{two}-{two}
    """,
    "codes": """
        {A}{digit} {A}{two} {A}{A}{two} {A}{A}{three} {A}{A}{A}{three} {A}-{two}
        {A}{A}{two}{A}{A}{A} {three}-{A}{A}{A} {A}{A}-{three}-{A}{A}
        {digit}{A}{A}{A}{three} {A}{digit}{A}{digit}{A}{digit} {two}{A} {digit}{A}
        {A}{three}-{three} {A}/{two} {A}{A}_{three} {a}{three} {a}{digit}{a}{digit}
        {WORD}{two} {word}{three}
    """,
    "addresses": r"""
        www.{word}.com {word}.com {WORD}.COM {Word}.com www.{word}.org {word}.net
        http://{word}.com https://{word} {word}.co.uk {word}.{word} {word}.io/{word}
        {word}@{word}.com {word}.{word}@{word} #{word} #{Word}{Word} @{word}
        @{word}{two} @{word}_{word} /{word}/{word} ?{word}={digit} {word}.html
        ~{word} C:\{word}
    """,
    "abbreviations": """
        {A}. {A}.{A}. {A}.{A}.{A}. {A}.{A} {A}&{A} {A}{A} {A}{A}{A} {A}{A}{A}{A}
        {A}{A}{A}s {A}.{Word} {A}/{A} Mr. Mrs. Dr. St. Co. Ltd. Inc. No.
    """,
}
_PHRASES = [
    "{cased} {cased}",
    "{word} {word} {word}",
    "{WORD} {WORD}",
    "{Word} {natural}",
]
PATTERNS: Mapping[str, Sequence[str]] = {
    **{name: block.split() for name, block in _BLOCKS.items()},
    "phrases": _PHRASES,
}
"""Ingredients that are written by a pattern. Besides ``FIELDS`` there are words: ``{word}`` as
listed, ``{Word}``, ``{WORD}``, and ``{cased}`` in any of these cases."""

_MONTHS = [
    "Jan",
    "Feb",
    "Mar",
    "Apr",
    "May",
    "Jun",
    "Jul",
    "Aug",
    "Sep",
    "Oct",
    "Nov",
    "Dec",
]
_CAPITALS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
# Numbers of one digit, every fourth of up to two, every ninth of up to three
_NATURAL = (*range(1, 10), *range(1, 100, 4), *range(1, 1000, 9))
FIELDS: Mapping[str, Sequence[str]] = {
    "digit": "0123456789",
    "two": [f"{number:02}" for number in range(100)],
    "three": [f"{number:03}" for number in range(1000)],
    "natural": [str(number) for number in _NATURAL],
    "year": [str(year) for year in range(1850, 2050)],
    "day": [f"{day:02}" for day in range(1, 32)] + [str(day) for day in range(1, 10)],
    "month": [
        *(f"{month:02}" for month in range(1, 13)),
        *(str(month) for month in range(1, 10)),
    ],
    "Month": _MONTHS,
    "MONTH": [month.upper() for month in _MONTHS],
    "hour": [f"{hour:02}" for hour in range(24)] + [str(hour) for hour in range(10)],
    "minute": [f"{minute:02}" for minute in range(60)] + ["00", "15", "30", "45"] * 5,
    "raised": "¹²³⁴⁵⁶⁷⁸⁹⁰",
    "fraction": "½¼¾⅓⅔⅛⅜⅝⅞",
    "A": _CAPITALS,
    "a": _CAPITALS.lower(),
}
"""What a field of a pattern stands for, besides words."""
