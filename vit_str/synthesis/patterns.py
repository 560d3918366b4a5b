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
        „{cased}“ „{Word} „{cased}“, “{cased}” “{cased}” “{Word} {cased}” {word},” {word}.”
        ‘{cased}’ ‘{word} {cased}’ ‚{word}‘ ‚{Word}‘ ‚{WORD}‘ ‚{Word} «{cased}» «{Word}
        {word}» »{cased}« »{word} ‹{cased}› ‹{word}› ›{cased}‹ {word}’s {Word}’s {WORD}’S
        {Word}s’ {Word}’ ’{two} ’{two}s {a}’{word} {A}’{Word} {word}’{a} {cased}… …{word}
        {word}… …{word}… {cased}– –{word} {Word}–{Word} {year}–{year} {two}–{two} –{natural}
        {cased}— —{cased} {word}—{word} {word}— •{cased} •{Word} ·{Word} {Word}·{Word}
        {word}·{word} {cased}† †{cased} †{year} {cased}‡ ‡{word} §{two} §{digit} §§{two}
        {digit}§ ¶{two} ¶{word} {digit}° {two}° {two}°C {two}°F {digit}°{two}′ {two}°{two}′
        {two}°{two}′{two}″ {two}′{A} {digit}′{two}″ {digit}″ {two}″ {cased}{raised}
        {word}{raised} {word}{raised} {Word},{raised} {word}.{raised} {word}){raised}
        {A}{raised} {two}{raised} 10{raised} {raised}{raised} {raised}{Word} {fraction}
        {fraction} {digit}{fraction} {digit}{fraction} {two}{fraction} {two}{fraction}
        {digit}{fraction}″ m² m³ cm² {two}m² №{two} №{natural} {digit}ª {digit}º {A}ª
        Nº{two} n.º {two}µm {digit}µg µ{A} {two}µ {two}‰ {digit}.{digit}‰ {digit}‰ {Word}™
        {WORD}™ {Word}® {WORD}® ©{year} ©{Word} {two}×{two} {digit}×{digit} {two}÷{digit}
        {digit}÷{digit} ±{two} ±{digit}% {two}±{digit} ≤{two} ≥{two} ≈{two} ≤{digit} {A}≠{A}
        {digit}≤{a} {a}≥{digit} ≈{digit}.{digit} {digit}≠{digit} -∞ √{digit} √{two} √{a}
        {A}→{A} →{word} {Word}→ {word}← ←{Word} ↑{two}% ↓{two}% {two}↑ {two}↓ ¡{Word}!
        ¿{Word}? ¡{WORD}! ¿{WORD}? ¿{word} {two}Ω {two}kΩ {digit},{digit}kΩ
        {digit}.{digit}␣MΩ {two}␣kΩ Ω {two}␣µm {two}␣m² {two}␣m³ m³ 10² 10³ {digit}² {a}²
        {two}␣°C –{two} –{digit},{digit} –{three} –␣{two} –␣{digit},{digit}
        –{natural}%
    """,
    "signs": """
        … – — • ‡ † ¶ № © ® ™ ∞ → ← ↑ ↓ ■ □ ▪ ● ○ ✓ ✗ ▶ ▲ ▼ ■{cased} ■{word} □{cased}
        □{word} ▪{cased} ▪{Word} ●{cased} ●{Word} ○{cased} ○{word} ★★★★★ ★★★★☆ ★★★☆☆
        {cased}★ ★{cased} ☆{cased} ✓{cased} ✓{word} ✗{cased} ✗{word} ▶{cased} ▶{Word}
        ▲{two}% ▲{cased} ▼{two}% ▼{cased} ☑ ☒ □ ☑{cased} ☒{cased} □{cased} ☑{Word} ☒{Word}
        ☑␣{Word} ☒␣{Word} □␣{Word} ☑␣{word} □␣{word} ☑ ☒ ♪ ♪{word} ♪␣{Word} {word}␣♪
        ♪{Word}♪
    """,
    "currencies": """
        €{natural} €{natural},{two} {natural}€ {natural},{two}€ £{natural}
        £{digit}.{two} £{two} ¥{natural} ¥{digit},{three} {natural}¢ {two}¢ ¢{two}
        {two},{three}₫ {three}.{three}₫ {natural}.000₫ ₩{natural},{three} ₩{three}
        {natural}₩ {natural}₴ {two}₴ ₴{natural} ₺{natural} ₺{natural},{two}
        {natural}₺ ₹{natural} ₹{natural},{three} ₹{two} {natural}₽ {natural},{two}₽
        {three}₽ ₦{natural},{three} ₦{natural} ₦{three} ₱{natural} ₱{natural}.{two}
        ₱{two} {natural}₼ {two}₼ ₼{two} ₪{natural} {natural}₪ {two}.{two}␣₪ ₪{two}.{two} ₡{natural}
        ₡{two}.{three} ₡{natural}.000 {digit}.{two}£ CHF{natural}.–
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
        >{two} -{two} -␣{digit}.{digit} -{three},{two} +{two} -{digit}.{two} - - + {digit}) {a})
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
    "snippets": r"""
        {word}_{word} {word}_{word}_{word} {WORD}_{WORD} _{word} __{word}__ {word}_{digit}
        {word}{Word} {word}{Word}{Word} {word}() {word}_{word}() {word}.{word}() {Word}.{word}
        {word}[{a}] {word}[{digit}] {word}[{a}][{a}] {word}[-1] {word}(){{}} {{}} () [] || &&
        {a}||{a} {word}||{word} {a}&&{a} {{{{{word}}}}} ${{{{{word}}}}} ${{{WORD}}} ${WORD}
        <{word}> </{word}> <{a}> </{a}> <{word}/> &{word}; --{word} --{word}-{word}
        --{word}={digit} -{a} -{a}{a} -{A} ./{word} ../{word} ~/{word}/ /{word}/{word}/{word}
        /{word}/{word}.{a}{a} {word}/*.{a}{a} {word}.py {word}.json {word}_{two}.{a}{a}{a}
        {a}=={a} {a}!={a} {a}+={digit} {a}++ {a}<={two} {a}>{digit} {a}->{word} {a}=>{a} :={a}
        {word}={word} {word}="{word}" '{word}': "{word}": \{a} \{word} @{word} #{word}
        #{word}-{word} #include 0x{hex}{hex} 0x{hex}{hex}{hex}{hex} #{hex}{hex}{hex} !{word}
        {word}::{word} {Word}<{Word}> {word}; {word}); }} }}; }}) ); ], {word}:{digit} $({word})
        `{word}` *{word} &{word} {word}?. {digit}..{two} [{a}:{a}] [{digit}:] **{word} ...
        https://{word}.{word}/{word} {word}@{word}.{a}{a} {word}+{word}@{word}.com {a}_{a}
        {word}.{word}@{word}-{word}.{a}{a} ?{a}={word}&{a}={two} ftp://{word} file:///{word}
        {a}{digit}_{a} {A}_{A} {word}_ _{a}_ //{word} /*{word}*/ <!--{word}--> %{a} %{digit}d
        = | / + \ * # & @
    """,
    "identifiers": """
        {hex}{hex}{hex}{hex}-{hex}{hex}-{hex}{hex} {hex}{hex}{hex}{hex}-{hex}{hex}-4{hex}{digit}
        {hex}{hex}{hex}{hex} {hex}{hex}{hex}{three} {HEX}{HEX}:{HEX}{HEX} {HEX}:{HEX}:{HEX}:{HEX}
        {HEX}:{HEX}:{HEX}:{HEX}:{HEX}:{HEX} {hex}:{hex}:{hex}:{hex} DE{two}{three}{three}{three}
        {A}{A}{two}{three}{three}{three}{three} {A}{A}{two}␣{three}1␣{digit}{three}␣11{two}
        DE{two}␣{three}{digit}␣{digit}{three} GB{two}␣{A}{A}{A}{A}␣{two}{two}
        {A}{A}{A}{A}{A}{A}{two} {A}{A}{A}{A}DE{A}{A}{A}{A}{A} W{A}{A}{A}{A}{A}{digit}{A}{two}
        1{A}{A}{A}{A}{two}{A}1{A}{A}{three}{three} {A}{A}1{A}{digit}{A}{digit}1{A}1{three}{three}
        {ALNUM}{ALNUM}-{ALNUM}{ALNUM}-{ALNUM}{ALNUM} {ALNUM}{ALNUM}{ALNUM}-{ALNUM}{ALNUM}
        {ALNUM}{ALNUM}{ALNUM}{ALNUM} {ALNUM}{ALNUM}{ALNUM} {alnum}{alnum}{alnum} {alnum}{ALNUM}
        978-{digit}-{three}-{two}{three}-{digit} 978{three}{three}{three}{digit}
        {octet}.{octet}.{octet}.{octet} 192.168.{digit}.{octet} 10.{octet}.{octet}.1
        127.0.0.1 ::1 fe80::{hex}{hex}:{hex}{hex} {octet}.{octet}.{octet}.{octet}:{two}{two}
        {octet}.{octet}.{octet}.0/{two} {day}{Month}{year} {day}{MONTH}{year} {day}{Month}{two}
        01{Month}{year} 11{MONTH}{two} {year}{month}{day} {day}-{Month}-{year} {two}{two}{year}
        {A}1{A}{digit} {A}1{digit}1 1{A}{two} {A}{A}11{digit} 1{A}1 {A}{A}-1{two} {two}-1{A}
        v{digit}.{digit}.{two} v1.{digit} {digit}.{digit}.{two}-{word} #{three}{three}
        ID{three}{three}
        {three}-{two}-{three}1 {A}{two}-{three}{A} {two}{A}{A}{three}{two} SN{three}{three}{A}
    """,
    "instruments": """
        {hour}:{minute} {hour}:{minute} {hour}:{minute}:{minute} {digit}:{minute}␣PM
        {minute}:{minute}.{digit} {two}.{digit}␣°C {two}.{digit}°C -{digit}.{digit}␣°C {two}°C
        {two}␣°F {digit}.{digit}° {digit}.{three}␣kg {two}.{two}␣kg {natural}␣g {digit}.{two}␣lb
        {natural}.{digit}␣g {three}.{digit} 10{two}␣hPa 9{two}␣hPa {digit}.{two}␣bar
        {two}.{digit}␣psi {natural}␣kPa {two}␣% {two}.{digit}␣% {two}% {digit}.{two}␣V
        {two}.{digit}␣V 2{two}␣V {natural}␣mV {digit}.{two}␣A {natural}␣W {digit}.{digit}␣kW
        {three}{two}␣kWh {three}{two}.{digit}␣kWh {three}{two}.{digit} {three}{three}
        {three}{two} 00{three}{two} 00{three} {three}{three}{digit} {three}{three}.{digit}
        0{three}{digit}␣m³ {three}{three}␣km {natural}␣km/h {natural}␣rpm {two}␣dB
        {digit}.{two}␣pH {natural}␣ppm {natural}␣bpm {three}␣mmHg {digit}.{digit}␣mmol/L
        {digit}.{digit} {two}.{digit} {digit}.{two} {digit}.{three} {two}.{two} -{digit}.{digit}
        -{two}.{digit} E{two} E{digit} E-{two} E{three} F{digit} F{two} H{two} L{two} L{digit}
        P{two} U{digit} d{two} A{two} C{two} Err Err␣{digit} --:-- -:-- --.- --- -- -:--:--
        EXP␣{mm}/{recent} EXP␣{mm}/{two} EXP:␣{day}.{mm}.{two} EXP␣{day}{MONTH}{two}
        EXP{two}{mm}{two} EXP.␣{mm}.{recent} LOT␣{three}{digit}{A} LOT␣{A}{three}{two}
        LOT:␣{three}{three} LOT{three}{two} L{three}{two} L{two}{three}{A}
        L␣{three}{digit}␣{hour}:{minute} BBE␣{day}.{mm}.{two} BBE␣{day}␣{MONTH}␣{two}
        MFG␣{mm}/{recent} {day}.{mm}.{recent} {day}.{mm}.{two} {mm}/{recent}
        {day}/{mm}/{two}␣{hour}:{minute} SN␣{three}{three}{A} S/N␣{A}{A}{three}{three}
        P<{A}{A}{A}{NAME}<<{NAME} {NAME}<<{NAME}<{NAME} {NAME}<<{NAME}<<<<<
        {A}{three}{three}{digit}<{digit}{A}{A}{A} {two}{mm}{two}{digit}F{two}{mm}{two}{digit}
        {two}{mm}{two}{digit}M{two}{mm}{two}{digit} I<{A}{A}{A}{A}{three}{three}
        ID{A}{A}{A}{NAME}<<<< {NAME}<<<<<< {A}{A}{A}{two}{mm}{two}{digit}<<<< <<<<<<{two}
    """,
    "abbreviations": """
        AI II III IV VI VII VIII IX XI XII XIV
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
_SPACE = "␣"


def _words(block: str) -> Sequence[str]:
    return [pattern.replace(_SPACE, " ") for pattern in block.split()]


PATTERNS: Mapping[str, Sequence[str]] = {
    **{name: _words(block) for name, block in _BLOCKS.items()},
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
_NAMES = """
    ADAM AHMED ALI ANDERSSON ANNA BERG BRAUN CARLOS CHEN CLARK COSTA DAVIES DIAZ ELENA EMMA
    ERIKSSON EVANS FATIMA FERNANDEZ GARCIA GRACE GREEN HANSEN HASSAN HENRY HUGO IBRAHIM INES
    IVANOV JACK JAMES JANSEN JOHN JOHNSON JOSE KAREN KHAN KIM KLEIN KOWALSKI LARS LEE LEWIS
    LOPEZ LUCAS MARIA MARTIN MEYER MICHAEL MOHAMED MOORE MUELLER NGUYEN NIELSEN NINA NOVAK OLGA
    OLIVIA OLSEN OTTO PAUL PEREZ PETER POPESCU QUINN RAMIREZ ROBERT ROSSI SARAH SCHMIDT SILVA
    SINGH SMITH SOFIA SOUZA THOMAS TRAN URSULA VALENTINA VAN VICTOR WAGNER WALKER WEBER WILLIAMS
    XAVIER YILMAZ YUSUF ZHANG ZIMMERMANN
"""
_CODE = _CAPITALS + "0123456789" + "1111"
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
    "hex": [f"{number:02x}" for number in range(256)],
    "HEX": [f"{number:02X}" for number in range(256)],
    "octet": [str(number) for number in range(256)],
    "recent": [str(year) for year in range(2000, 2040)],
    "NAME": _NAMES.split(),
    "mm": [f"{month:02}" for month in range(1, 13)],
    "ALNUM": [a + b for a in _CODE for b in _CODE],
    "alnum": [a + b for a in _CODE.lower() for b in _CODE.lower()],
}
"""What a field of a pattern stands for, besides words."""
