"""How lines of receipts, forms, letters and signs are written: data, no code.

``{name}`` stands for a pattern of that name here or in `patterns`, a field of ``FIELDS``, or a
word: ``{word}``, ``{Word}``, ``{WORD}``, ``{sentence}`` for running text of a few words. A tab is
a gap that grows until the line is full. ``{leader}`` is drawn, but no text: dots or a rule.
"""

from collections.abc import Mapping, Sequence

KINDS: Mapping[str, float] = {
    "prose": 0.26,
    "heading": 0.07,
    "label": 0.16,
    "receipt": 0.18,
    "table": 0.09,
    "address": 0.07,
    "list": 0.05,
    "string": 0.12,
    "typeset": 0.06,
    "source": 0.032,
    "identifier": 0.014,
    "instrument": 0.026,
    "ticked": 0.014,
    "spoken": 0.014,
    "figures": 0.014,
}
"""Kinds of lines and their shares; ``prose`` is running text, ``string`` what `Lexicon` draws,
``source`` code, ``spoken`` what subtitles say."""

BOOK_KINDS: Mapping[str, float] = {"prose": 0.8, "book": 0.2}
"""The same of books."""


def _lines(text: str) -> Sequence[str]:
    return [line.strip(" ") for line in text.split("\n") if line.strip(" ")]


def _parts(text: str) -> Sequence[str]:
    return [part.replace("|", " ") for part in text.split()]


_LINES = {
    "heading": r"""
        {WORD} {WORD}
        {WORD} {WORD} {WORD}
        {Word} {Word} {Word}
        {WORD} {WORD} {WORD} {WORD} {WORD}
        {digit}. {Word} {word} {word}
        {digit}.{digit} {Word} {word}
        {A}. {WORD} {WORD}
        {WORD} & {WORD}
        {Word} and {Word}
        *** {WORD} {WORD} ***
        - {digit} -
        Page {digit} of {two}
        {WORD} {year}
        "{Word} {Word}"
        {WORD} {WORD} ({company})
        {WORD} {WORD} {company}
        {Word} {Word} {company}
        Глава {two}. {Word} {word}
        РАЗДЕЛ {digit}. {WORD} {WORD}
        ООО «{Word}»
        ТОВ «{Word} {Word}»
        Κεφάλαιο {digit}. {Word} {word}
        {WORD} {WORD} Α.Ε.
    """,
    "label": r"""
        {Tag}: {value}
        {Tag}: {value}
        {TAG}: {value}
        {TAG}: {value}
        {Tag} : {value}
        {TAG} :{value}
        {TAG}{mark}
        {Tag}{mark}
        {TAG}
        {Tag}	{value}
        {Tag}:	{value}
        {TAG}:	{value}
        {Tag} {leader} {value}
        {Tag} {leader}
        {TAG}: {leader}
        {Tag}: {value}	{Tag}: {value}
        {TAG}: {value}	{TAG}: {value}
        {Tag}:	{Tag}:	{Tag}:
        [ ] {Word} {word}	[x] {Word}
        ( ) {Word}	( ) {WORD}
        {Tag} ({words})
        {TAG} ({words}):
        {Tag} No. {value}
        {TAG} #: {number}
        {Tag} / {Tag}
        Имя: {Word}	Фамилия: {Word}
        Дата: {date}	Подпись: {leader}
        Дата рождения: {date}
        Номер счёта: {number}
        Адрес: {Word}, {natural}
        ИНН {number}{three}{three}	КПП {number}
        Договор № {natural} от {date}
        Паспорт серия {two} {two} № {three}{three}
        Прізвище: {Word}	Ім'я: {Word}
        Дата: {date}	Підпис: {leader}
        Име: {Word}	Презиме: {Word}
        Датум: {date}	Потпис: {leader}
        ЕГН: {number}	Подпис: {leader}
        Όνομα: {Word}	Επώνυμο: {Word}
        Ημερομηνία: {date}	Υπογραφή: {leader}
        ΑΦΜ: {number}	Δ.Ο.Υ. {WORD}
        Αρ. Πρωτ.: {natural}
    """,
    "receipt": r"""
        {digit} {WORD} {WORD}	{amount}
        {WORD} {WORD}	{amount}
        {Word} {word} {word}	{amount}
        {WORD} {WORD} {two}{unit}	{amount}
        {digit} x {amount}	{amount}
        {digit} @ {amount}	{amount} {A}
        {number}{three}{three}	{digit}	{amount}	{amount}
        {number}	{WORD} {WORD}
        {TOTAL}	{amount}
        {TOTAL}:	{amount}
        {TOTAL} ({currency})	{amount}
        {TOTAL} :	{currency}{amount}
        {TOTAL} {currency} {amount}
        {TOTAL} {leader} {amount}
        {TOTAL} @ {digit}%	{amount}
        {TOTAL} {digit}%: {amount}
        {WORD}({WORD})	{amount}
        {currency} {amount}
        {amount} {A}{A}
        {amount}	{amount}	{amount}
        {digit} PCS	{amount}	{digit}.00%	{amount}
        QTY	{TAG}	{TOTAL}
        ITEM	QTY	{currency}	{TOTAL}
        {GREETING}
        {GREETING} {WORD} {WORD}
        {date} {time}
        {date}	{time}
        DATE: {date}	TIME: {time}
        {TAG} NO: {number}	{date}
        CASHIER: {WORD}	{number}
        {number}-{number}-{three}
        {leader}
        ИТОГО	{amount}
        ИТОГО:	{natural},{two} ₽
        СУММА	{natural},{two} руб.
        НДС {two}%	{amount}
        РАЗОМ	{natural},{two} грн
        ΣΥΝΟΛΟ	{amount}
        ΣΥΝΟΛΟ: €{two},{two}
        ΦΠΑ {two}%	{amount}
    """,
    "table": r"""
        {amount}	{amount}
        {amount}	{amount}	{amount}
        {Word} {word}	{number}	{number}	{number}
        {Word}	{amount}	{amount}	{digit}%
        {year}	{number}	{number}	{amount}
        {two}	{Word} {word}	{date}	{amount}
        {Word} {leader} {number}
        {Word} {word} {word} {leader} {two}
        {TAG}	{TAG}	{TAG}
        {Tag}	{year}	{year}	{year}
        {digit}.{digit}	{digit}.{two}	-{digit}.{two}	({digit}.{digit})
        {code}	{code}	{number}
        {A}	{A}{digit}	{two}	{three}	{number}
        {time}	{Word} {Word}	{digit}
        ${number}	${number}	{digit}.{digit}%
    """,
    "address": r"""
        {natural} {Word} {street}
        {natural} {WORD} {STREET}
        {natural} {Word} {street}, {Word}
        {Word}{strasse} {natural}
        {three}{two} {Word}
        {three}{two} {WORD} {WORD}
        NO. {natural}, {WORD} {WORD} {digit}/{two},
        NO.{two}, {WORD} {digit}, TAMAN {WORD},
        {WORD}, {WORD}, {WORD}.
        {Word}, {A}{A} {three}{two}
        {WORD}, {A}{A} {three}{two}-{three}{digit}
        P.O. Box {natural}{digit}
        {Word} & {Word}, {company}
        {Word} {A}. {Word}
        Dr. {Word} {Word}
        {Word} {Word}, {Word}
        Attn: {Word} {Word}
        Tel: {phones}
        TEL : {phones}	FAX : {phones}
        Phone {phones}
        Fax No. {phones}
        E-mail: {word}@{word}.com
        www.{word}{word}.com
        {addresses} {addresses}
        (GST ID No. {number}{three}{three})
        ({number}-{A})
        ул. {Word}, д. {two}, кв. {two}
        г. {Word}, ул. {Word}, {two}
        вул. {Word}, {two}
        Тел.: {phones}
        Οδός {Word} {two}
        Λεωφ. {Word} {two}, {Word}
        Τηλ.: {phones}
    """,
    "short": r"""
        {amount}
        {amount}
        {number}
        {digit}
        {two}
        {A}
        {A}{A}
        {word}
        {Word}
        {WORD}
        {TOTAL}
        {TAG}
        {Tag}:
        {TAG}:
        {date}
        {time}
        {currency}
        {digit}%
        {code}
        {two}{unit}
        {digit}.
        –
        —
        •
        …
        € {two}
        {two} €
        {two} %
        {two} °C
        № {two}
        {fraction}
        {year}–{year}
        “{Word}”
        „{Word}“
        ({a})
        -
        :{number}
    """,
    "list": r"""
        {digit}. {sentence}
        {digit}) {sentence}
        ({a}) {sentence}
        ({digit}) {sentence}
        {a}. {sentence}
        - {sentence}
        * {sentence}
        [{two}] {sentence}
        {Word}: {sentence}
        {Word} - {sentence}
        {two}/{two} {sentence}
        {digit}.{digit}.{digit} {sentence}
        • {sentence}
        – {sentence}
        — {sentence}
        · {sentence}
        ▪ {sentence}
        ■ {sentence}
        ● {sentence}
        ○ {sentence}
        □ {Word} {word}	□ {Word}
        → {sentence}
        ▶ {Word} {word}
        ✓ {Word} {word} {word}
        ✗ {Word} {word} {word}
        ★ {Word} {word}
        ☆ {Word} {word}
        § {digit} {sentence}
        † {sentence}
        ‡ {sentence}
        {raised} {sentence}
    """,
    "book": r"""
        {Word} {word}, {word} u. ſ. w.
        {word} u. s. w. {sentence}
        {word}, d. h. {sentence}
        {word}, d. i. {sentence}
        z. B. {sentence}
        {word} {word} &c. {word}
        {digit}) {sentence}
        {digit}. {sentence}
        {two}. {sentence}
        {a}) {sentence}
        *) {sentence}
        **) {sentence}
        †) {sentence}
        {raised}) {Word} {word}, S. {two}.
        {Word} a. a. O. S. {two}. {sentence}
        {sentence} *)
        {sentence}{raised}) {word} {word}
        §. {two}.
        §. {natural}. {sentence}
        — {two} —
        ( {natural} )
        {natural}	{Word} {word} {Word}.
        {Word} {word} {Word}.	{natural}
        {two}	{WORD} {WORD}.	{two}
        {roman}. {Word}.
        {Word} {roman}.
        {roman}. {Word} {word} {word}
        {Word} {roman}, {two}. {sentence}
        {A}. {Word} {word}.
        {A}. {A}. {Word}. {year}.
        {day}. {Month} {year}. {sentence}
        {Word} den {day}. {Month} {year}.
        {Word}, {word} {word}: {Word} {word}!
        {Word}. {sentence}
        {sentence} — {sentence}
        „{sentence}“ {word} {word},
        »{sentence}« {word} {word},
        {Word} ({Word} {word}) {sentence}
        {Word} {leader} {two}
        {Word} {word} {leader} {natural}
        {fraction} {Word} {word}, {digit} {Word}
        {natural} Thlr. {two} Gr. {digit} Pf.
        {two} fl. {two} kr.
        Bd. {roman}. S. {natural} ff.
        Vol. {roman}. p. {natural}.
        Cap. {roman}. v. {two}.
    """,
    "source": r"""
        def {word}_{word}(self, {a}={digit}):
        def __init__(self, {word}, {word}=None):
        if {word} == {digit} || {word} != {a}:
        if (!{word} && {word}.length > {digit}) {
        for ({a} = 0; {a} < {word}.{word}; {a}++) {
        for {a}, {word} in enumerate({word}_{word}):
        return {word}_{word}[{a}] + {digit};
        return {"{word}": {word}, "{word}": {digit}}
        {word}_{word} = {word}.{word}({word})
        {word} = {}
        {word}: [] = {"{word}_{word}": {}}
        self._{word} = {word}
        self.{word}_{word} = {word}_{word} or {digit}
        const {word}{Word} = ({word}) => {
        let {word} = {word}?.{word} ?? {digit};
        var {word}{Word} = {word}[{digit}][{a}];
        import {word}.{word} as {a}{a}
        from {word}_{word} import {Word}{Word}, {word}
        #include <{word}/{word}.h>
        #define {WORD}_{WORD} 0x{HEX}{HEX}
        public static void {word}({Word}[] {word})
        print(f"{word}: {{word}_{word}}")
        printf("%d %s\n", {word}, {word}->{word});
        assert {word}[{digit}:{two}] == [{digit}, {digit}]
        while ({word}-- > 0 || {word} <= {two}) {
        } else if ({word} === "{word}") {
        });
        }
        {word}() { {word}_{word}; }
        <div class="{word}-{word}">{Word} {word}</div>
        <a href="/{word}/{word}.html">{Word}</a>
        <{word} {word}="{word}" />
        <input type="{word}" name="{word}_{word}">
        &nbsp;<b>{Word}</b> &amp; <i>{word}</i><br>
        .{word}-{word} { {word}: {two}px; }
        @{word}({word}="{word}")
        $ {word} --{word}={digit} -{a} {word}.{a}{a}
        $ {word} -{a}{a} {word}_{word}.{word} | grep -{a} "{word}"
        $ git {word} --{word} {word}/{word}
        sudo apt-get install {word}-{word} && {word}
        pip install {word}[{word}]=={digit}.{digit}.{digit}
        cat {word}.txt | sort | uniq -c > {word}_{two}.log
        export {WORD}_{WORD}="$HOME/{word}:${WORD}"
        echo "${{WORD}}" >> ~/.{word}rc
        curl -X POST https://{word}.com/{word}?{a}={digit}
        ls -l /{word}/{word}/{word}_{digit}
        cd ~/{word}/{word} || exit 1
        C:\{Word}\{word}\{word}_{digit}.exe
        /usr/{word}/{word}-{digit}.{digit}/{word}.so
        https://www.{word}.{word}/{word}/{word}-{word}.html#{word}
        {word}.{word}@{word}-{word}.com, {word}_{two}@{word}.org
        {word}: {word}_{word}  # {word} {word}
        // {word} {word} {word}
        /* {Word} {word} */
        # TODO: {word} {word}_{word}
        "{word}": "{word}", "{word}_{word}": [{digit}, {digit}],
        {word}: {word} {{ {word}.{word} }}
        SELECT {word}_{word}, {word} FROM {word} WHERE {word}_id = {digit};
        {a} = {a} ** 2 + {digit} * ({a} - {digit}) % {two}
        {a} |= {a} & ~{a} ^ ({a} << {digit});
        {snippets} {snippets}
        {snippets} {snippets} {snippets}
        {snippets}
        __{word}__ = "{word}"
        |{word}|{word}|
        | {word} | {Word} {word} | {digit} |
        [{word}]({word}.md) **{word}** `{word}_{word}`
        Error in {word}_{word}(): line {two}
        File "{word}/{word}_{word}.py", line {two}, in <module>
        -:--:--
        ...
    """,
    "identifier": """
        {identifiers}
        {identifiers} {identifiers}
        {Tag}: {identifiers}
        {TAG} {identifiers}
        {hex}{hex}{hex}{hex}-{hex}{hex}-4{hex}{digit}-{hex}{hex}-{hex}{hex}{hex}{hex}{hex}1
        {hex}{hex}{hex}{hex}-{hex}{hex}-1{hex}{digit}-{hex}{hex}-{hex}{hex}{hex}{hex}{hex}{hex}
        {hex}{hex}{hex}{hex}{hex}{hex}{hex}{hex}{hex}{hex}{hex}{hex}{hex}{hex}{hex}{hex}
        sha256:{hex}{hex}{hex}{hex}{hex}{hex}{hex}{hex}{hex}{hex}{hex}{hex}
        commit {hex}{hex}{hex}{hex}{hex}{hex}{hex}{hex}{hex}{hex}
        IBAN: DE{two} {three}1 {two}{two} {two}1{digit} {three}{digit} {two}
        IBAN DE{two}{three}{three}1{three}{three}11{two}
        {A}{A}{two} {A}{A}{A}{A} {three}{digit} {two}{two} {three}1 {two}
        VIN: 1{A}{A}{A}{A}{two}{A}{A}{A}1{three}{three}
        {A}{A}{A}{A}1{digit}{A}{digit}{A}{A}1{three}{three}
        {ALNUM}{ALNUM}{A}-{ALNUM}{ALNUM}{A}-{ALNUM}{ALNUM}{A}-{ALNUM}{ALNUM}{A}
        {ALNUM}{ALNUM}-{ALNUM}{ALNUM}-{ALNUM}{ALNUM}-{ALNUM}{ALNUM}
        ISBN 978-{digit}-{three}-{two}{three}-{digit}
        ISBN: {digit}-{three}-{two}{three}-X
        {octet}.{octet}.{octet}.{octet}:{two}{two} {octet}.{octet}.{octet}.{octet}/{two}
        {HEX}:{HEX}:{HEX}:{HEX}:{HEX}:{HEX}
        inet 192.168.{octet}.{octet}/24 brd 192.168.{octet}.255
        {day}{Month}{year} {day}{Month}{year}
        01{Month}{year}	{natural}.{two}
        {day}{MONTH}{two}	{WORD} {WORD}	{amount}
        {Tag} {year}{mm}{two}-{three}{A}1
        v1.{digit}.{two} {year}-{mm}-{two}T{hour}:{minute}:{minute}Z
    """,
    "instrument": """
        {instruments}
        {instruments}
        {instruments} {instruments}
        EXP {mm}/{recent} LOT {three}{digit}{A}
        LOT {A}{three}{two} EXP {day}.{mm}.{recent}
        L{three}{two} {hour}:{minute} BBE {day}.{mm}.{two}
        {day}.{mm}.{two} {hour}:{minute} {A}{digit} {three}
        BEST BEFORE {day} {MONTH} {recent}
        PROD {day}/{mm}/{two} EXP {day}/{mm}/{two}
        P<{A}{A}{A}{NAME}<<{NAME}<{NAME}<<<<<<<<<<<<<<<<<<<
        P<{A}{A}{A}{NAME}<{NAME}<<{NAME}<<<<<<<<<<<<<<<<<<<<<<
        {A}{A}{three}{three}{digit}{digit}{A}{A}{A}{two}{mm}{day}{digit}F{two}{mm}{day}{digit}<<<<<<<<<<<<<<0{digit}
        {A}{three}{three}{two}{digit}{A}{A}{A}{two}{mm}{two}{digit}M{two}{mm}{two}{digit}{three}{three}<<<<<<<<{two}
        I<{A}{A}{A}{A}{three}{three}{two}<{digit}<<<<<<<<<<<<<<<
        ID{A}{A}{A}{NAME}<<<<<<<<<<<<<<<<<<{three}{three}
        {two}{mm}{two}{digit}F{two}{mm}{two}{digit}{A}{A}{A}<<<<<<<<<<<{digit}
        {NAME}<<{NAME}<{NAME}<<<<<<<<<<<<<<<
        {three}{two} kWh	{natural}.{digit} kW
        {two}.{digit} °C	{two} %	10{two} hPa
    """,
    "ticked": """
        ☑ {Word} {word}
        ☒ {Word} {word}
        □ {Word} {word}
        ☑ {Word}	☒ {Word}	□ {Word}
        □ {Word}	☑ {Word}	□ {Word}
        ☒ {Word}	□ {Word}
        {Tag}: ☑ {Word} □ {Word} □ {Word}
        {Tag}:	□ {Word}	☒ {Word}
        {Tag}: ☒ {word} □ {word}
        ☑ {WORD}	□ {WORD}
        □ Yes	☒ No
        ☒ Yes	□ No	□ N/A
        ☑ {sentence}
        ☒ {sentence}
        □ {sentence}
        ☑{Word} {word} ☒{Word}
        {Word} {word} ☑
        {word}: ☒
        ☑ ja ☒ nein □ {word}
    """,
    "spoken": """
        I'll {word} {word}.
        I'll {word} {word} {word} {word}
        I'll be {word}. I'm {word}.
        I'm {word} {word}.
        I've {word} it, {word} {word}.
        I'd {word} {word}!
        It'll {word}. I {word} {word}.
        - I'll {word}. - {Word}?
        ♪ {word} {word} {word} ♪
        ♪ {Word} {word}, {word}
        ♪ I'll {word} {word} ♪
        [{word} {word}]
        {WORD}: {sentence}
        {Word} AI {word} {word}, Inc.
        AI {word} and AI-{word} {word}
        THE {WORD} OF AI: {WORD} {WORD}
        How AI {word} {word} {word}
        {Word} {word} with AI
        I'll {word} all {word}, I {word}
        King {Word} {roman} and {Word} {roman}
        World War II, {word} {word}
        Chapter {roman}: {Word} {word}
        Louis {roman} ({year}–{year})
    """,
    "figures": """
        -{digit}.{two}	{digit}.{two}	-{two}
        –{digit},{two}	{digit},{two}	–{two}
        –{three}	–{two}	–
        –	–	–	{digit}
        -	-	{digit}
        — 	{two}
        - {digit}.{digit}	- {two}.{digit}
        – {digit},{digit} %	– {two}
        +{digit}.{digit}	–{digit}.{digit}	±0
        ({two})	({digit}.{two})	–
        {digit}	{digit}	{digit}	{digit}
        {digit}	–	{digit}
        {two} m²	{natural} m³	{two} cm²
        10² 10³	{digit} × 10{raised}
        {two} kΩ	{digit},{digit} MΩ	{two} Ω
        {natural} Ω ±{digit} %
        {two} µm	{digit}.{digit} µm ± {digit}.{digit}
        {two} °C	–{two} °C	{digit},{digit} ‰
        ₪{natural}	{natural}.{two} ₪
        ₡{two}.{three}	₡ {natural}
        {Word} {word}	₪ {two}.{two}
        {Word} {word}	₡{three}
        {digit} + {digit} = {two}
        {Word}	–{digit},{digit}	{digit},{digit}
        {Word} {word}	-{two}	+{digit}
        a) {digit}	b) {digit}	c) –
    """,
    "typeset": r"""
        § {two} {Word} {word}
        § {natural} Abs. {digit} {WORD}
        §§ {two}–{two}
        Art. {digit} § {digit}
        № {two} {Word}
        {Word} № {natural}
        Nº {two} {Word}
        {Word} {word} {digit}.º {word}
        {digit}ª {word} {word}
        {two} °C	{two} °C
        {two} °C – {two} °C
        –{digit} °F
        {Word}: {two}° {two}′ {two}″ {A}, {two}° {two}′ {A}
        {Word} {two}°{two}′{A}
        {digit}′ {two}″ × {digit}′ {digit}″
        € {natural},{two}
        {Word} {word}	€ {two},{two}
        {natural},{two} €	{natural},{two} €
        £ {two}.{two}	£ {natural}.{two}
        {Word} {word}	₫ {two}.{three}
        {natural}.000 ₫
        ₺ {natural},{two}	₺ {two},{two}
        {Word}	{natural} ₴	{two} ₽
        ₹ {two},{three}	₩ {three},000
        ₱ {natural}.{two}	₦ {digit},{three}
        {natural} ₼	{two} ¢	¥ {natural}
        {Word} {word} {fraction}
        {digit}{fraction} {word} {word}
        {fraction} {word}, {digit}{fraction} {word}
        {digit} {fraction}″ × {digit} {fraction}″
        {Word} {word}{raised} {word} {word}
        {Word} {word},{raised} {word} {word}.{raised}
        {two} m² {word}, {two} cm³
        {digit},{two} × 10{raised}
        {two} × {two} cm
        {two} × {two} × {two} mm
        {two} ± {digit}	{two} ± {digit}
        {digit}.{digit} ± {digit}.{two}	({two} ‰)
        p ≤ {digit}.{two}, n ≥ {two}
        {A} ≠ {A}, {a} ≈ {digit}.{two}
        {two} ÷ {digit} = {two}
        √{two} ≈ {digit}.{two}	∞
        {two} µm	{two} µg
        © {year} {Word} {Word}
        © {year}–{year} {Word} {company}
        Copyright © {year} {WORD}
        {Word}® {word}	{Word}™ {word}
        {Word}™ {word} {word}
        {Word} {Word} (* {year}, † {year})
        {Word} {A}. ({year}–{year})
        † {day}. {Month} {year}
        S. {two}–{two}	pp. {natural}–{natural}
        {Word}–{Word} {word}
        {hour}:{minute} – {hour}:{minute}
        {Word} → {Word} → {Word}
        ← {Word}	{Word} →
        ↑ {digit}.{two} %	↓ {digit}.{two} %
        ▲ {digit}.{two} %	▼ {digit}.{two} %
        ★★★★☆ ({two})
        ★★★☆☆ {Word} {word}
        ★ ★ ★
        • • •
        — {two} —
        – {two} –
        {Word} • {Word} • {Word}
        {Word} · {Word} · {Word}
        ✓ {Word}	✗ {Word}
        ○ {Word}	● {Word}	○ {Word}
        □ {Word}	■ {Word}
        … {word} {word} …
        […] {word} {word}
        {WORD} — {Word} {word}
        ¶ {two}. {sentence}
        ¿{sentence}?
        ¡{sentence}!
        {Word}, «{sentence}»
        “{sentence}”
        „{sentence}“
        ‘{sentence}’
        ‚{sentence}‘
        ‹{sentence}›
        »{sentence}«
        — {sentence} — {word} {word}
        ‰ {digit}.{digit}	{digit} ‰
        {Word} {word}, {year} г.
        {year}–{year} гг.
        {day} {word} {year} года
        {day} января {year} г.
        {day} мая {year} года, {word} {word}
        {day} серпня {year} р.
        {day} октомври {year} г.
        {day} децембра {year}. године
        {day} Μαρτίου {year}
        {day} Αυγούστου {year}, {word} {word}
        {Word} {A}. {A}.	{A}. {A}. {Word}
        {roman} век, {roman} в.
        {roman} століття
        {roman} αιώνας
        т. {digit}, № {digit}, с. {two}–{two}
        см. рис. {digit}, стр. {two}
        д-р {A}. {Word}
        {Word} και {Word}, {year}
        σελ. {two}–{two}
        κ. {Word} {Word}
    """,
}
# Spaces part them; a bar is a space within one.
_PARTS = {
    "Tag": """
        Name Date Address Subject Signature Title Phone Telephone Company From To
        Attention Total Comments Remarks Description Type Code Department Division
        City State Quantity Price Product Account Invoice|No. Date|of|{word}
        {Word}|{word} {Word} {Word}|{Word} {Word}|No. {Word}|by {Word}|of|{word}
        Time|{word} Number|of|{word} Cc Ref. Re
    """,
    "TAG": """
        NAME DATE ADDRESS SUBJECT TO FROM FAX TEL PHONE NO. INVOICE|NO. TITLE
        COMPANY BRAND CODE QUANTITY QTY DESCRIPTION AMOUNT PRICE ITEM TOTAL TYPE
        NUMBER SIGNATURE REMARKS ACCOUNT DEPARTMENT DATE|OF|{WORD} {WORD}|{WORD}
        {WORD} {WORD}|NO. {WORD}|BY CASHIER TABLE MEMBER DOC|NO. REF BILL|TO TIME
    """,
    "TOTAL": """
        TOTAL TOTAL|AMOUNT SUBTOTAL SUB|TOTAL SUB-TOTAL CASH CHANGE GST TAX VISA
        BALANCE ROUNDING TOTAL|SALES GRAND|TOTAL NET|TOTAL DISCOUNT ROUND|ADJ
        AMOUNT|DUE Total Subtotal Cash Change Total|Amount Rounding|Adjustment
        Total|Incl.|GST TOTAL|QTY Tax Discount Balance Paid Summe MwSt TVA IVA
        Totale {WORD}|{WORD} TENDERED Service|Charge TAX(RM) AMOUNT(RM) Net
    """,
    "GREETING": """
        THANK|YOU Thank|You|For|Shopping THANK|YOU,|PLEASE|COME|AGAIN! TAX|INVOICE
        INVOICE RECEIPT SIMPLIFIED|TAX|INVOICE CASH|BILL
        GOODS|SOLD|ARE|NOT|RETURNABLE Welcome|to PLEASE|KEEP|THIS
        Thank|you|for|your|visit {Word}|{word}|{word}|{word}! GST|SUMMARY
        CUSTOMER|COPY
    """,
    "value": """
        {number} {date} {amount} {Word}|{Word} {WORD}|{WORD} {WORD} {Word} {phones}
        {code} {time} {Word}|{word}|{word} {A}.|{Word} Yes No N/A {number} {date}
        {words} X {leader} ${number}
    """,
    "amount": """
        {digit}.{two} {two}.{two} {natural}.{two} {natural}.00 {digit},{three}.{two}
        {digit}.{digit}0 ${natural}.{two} {natural},{two} -{digit}.{two} {two}.{two}
        0.00 {natural}.{three},{two} {digit}.{two} RM{two}.{two} €{two}.{two}
        {two},{two}|€ £{digit}.{two}
    """,
    "number": """
        {two} {three} {natural} {three}{three} {two}{three}{three}
        {three}{three}{three} {digit},{three} {two},{three} {three},{three}
        {A}{three}{three} {three}-{three} {digit} {A}{A}{three}-{two} {year}
        00{three}
    """,
    "date": """
        {dates} {dates} {dates} {Month}|{day},|{year} {day}|{Month}|{year}
        {MONTH}|{day},|{year}
    """,
    "time": """
        {times} {hour}:{minute} {hour}:{minute}:{minute} {digit}:{minute}|PM
        {two}:{minute}|AM
    """,
    "code": "{codes} {codes} {A}{three}{three} {A}-{three}-{two} {A}{A}{three}{three}{two}",
    "currency": "RM RM $ € EUR USD £ GBP Rp S$ CHF kr",
    "company": "Inc. INC. Ltd. LTD CO. Co. SDN|BHD SDN.|BHD. GmbH S.A. LLC Corp. CORPORATION & AG",
    "street": "Street St. Ave. Avenue Road Rd. Blvd. Lane Drive Square",
    "STREET": "STREET ST. AVE. AVENUE ROAD RD. BLVD. LANE DRIVE",
    "strasse": "straße str. weg platz gasse gata gade ova",
    "unit": "G KG ML L PCS CM MM X S",
    "mark": ": : : ? * . ;",
    "roman": "I II III IV V VI VII VIII IX X XI XII XIV XV XVI XVIII XX XXII XXIX XL LX XC C CXI",
    "words": "{word} {word}|{word} {WORD} {word}|{word}|{word} {word}/{word} {two}|{word}",
}
LINES: Mapping[str, Sequence[str]] = {
    **{name: _lines(block) for name, block in _LINES.items()},
    **{name: _parts(block) for name, block in _PARTS.items()},
}
"""Patterns by name."""

LEADERS = (".", ".", ". ", "_", "-", "=", "*", "- ", ".", "…", "·", "–", "—")
"""What leaders repeat."""

QUOTES = ("()", '""', "''", "[]", "«»", "“”", "“”", "„“", "„”", "‘’", "»«", "‚‘", "‹›")
"""What stands around words."""

DASHES = ("–", "–", "—", "-")
"""Between spaces within a sentence."""

TYPESET = {"'": "’", "...": "…"}
"""What typewriters lack, and typesetters have in its place."""
