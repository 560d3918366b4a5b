"""The look of a page as CSS: text, headings, lists, and what stands around them."""

from vit_str.synthesis.pages.style import Style

_PLAIN = 1.15
"""Size over that of the text up to which a heading has to be bold, colored or the like."""
_SMALLER = 1.1
"""Size of a heading over that of the next level, at least."""


def style_sheet(style: Style) -> str:
    """The style sheet of a page, as CSS."""
    above, beside = style.margin
    rules = [
        "* { box-sizing: border-box; overflow-wrap: break-word }",
        f"html {{ background: {style.paper} }}",
        f"body {{ margin: 0; width: {style.width}px; min-height: {style.height}px;"
        f" padding: {above:.0f}px {beside:.0f}px; display: flex; flex-direction: column;"
        f" position: relative; background: {style.paper}; color: {style.ink};"
        f" font: {style.text_size:.2f}px / {style.leading:.2f} {style.face} }}",
        "main { flex: 1 1 auto; min-width: 0; width: 100% } section { min-width: 0 }",
        _paragraphs(style),
        *_headings(style),
        *_lists(style),
        *_notes_and_captions(style),
        *_furniture(style),
        *(
            look.css.replace("TABLE", f".table{number}")
            for number, look in enumerate(style.tables)
        ),
    ]
    return "\n".join(rules)


def _paragraphs(style: Style) -> str:
    align = "text-align: justify;" if style.is_justified else ""
    indent = "p + p { text-indent: 1.4em }" if style.is_indented else ""
    initial = ""
    if style.random.chance(0.06):
        initial = (
            "main > p:first-of-type:not(.plain, .lead, .fine)::first-letter"
            f" {{ float: left; font-size: {style.random.uniform(2, 3.2):.1f}em;"
            " line-height: .85; margin-right: .08em }"
        )
    return f"p {{ margin: 0 0 {style.gap}em; {align} }} {indent} {initial}"


def _headings(style: Style) -> list[str]:
    random = style.random
    sizes = [random.uniform(1.35, 2.7), random.uniform(1.1, 1.6)]
    sizes += [random.uniform(1.0, 1.25), random.uniform(0.94, 1.06)]
    sizes.sort(reverse=True)
    # Of two that look alike, nobody knows the level
    for level in range(1, len(sizes)):
        sizes[level] = min(sizes[level], sizes[level - 1] / _SMALLER)
    return [
        f"h{level} {{ {_heading(style, level, size)} }}"
        for level, size in enumerate(sizes, 1)
    ]


def _heading(style: Style, level: int, size: float) -> str:
    """One that cannot be taken for text."""
    random = style.random
    is_bold = random.chance(0.97 if size < _PLAIN else 0.72)
    above = random.uniform(0.5, 1.5) if level > 1 else random.uniform(0, 0.6)
    css = (
        f"font-size: {size:.2f}em; line-height: {random.uniform(1.05, 1.3):.2f};"
        f" margin: {above:.2f}em 0 {random.uniform(0.1, 0.7):.2f}em;"
        f" font-weight: {700 if is_bold else 400}; font-family: {style.head_face};"
    )
    rule = random.one("1px solid #333", f"2px solid {style.color}", "0.5px solid #999")
    extras = {
        "text-transform: uppercase;": 0.15,
        "text-transform: uppercase; letter-spacing: .15em;": 0.05,
        "font-variant: small-caps;": 0.04,
        "text-align: center;": 0.15,
        f"color: {style.color};": 0.4,
        "font-style: italic;": 0.08,
        f"border-bottom: {rule}; padding-bottom: .12em;": 0.14,
        f"border-top: {rule}; padding-top: .2em;": 0.05,
        f"border-left: 4px solid {style.color}; padding-left: .4em;": 0.04,
        f"background: {style.dark}; color: #fff; padding: .15em .45em;": 0.06,
        f"background: {style.ground}; padding: .15em .45em;": 0.05,
    }
    chosen = [text for text, share in extras.items() if random.chance(share)]
    if any("#fff" in text for text in chosen):
        light = f"background: {style.ground}"
        chosen = [text for text in chosen if not text.startswith(light)]
    if not is_bold and size < _PLAIN and not chosen:
        chosen.append("font-style: italic;")
    return css + " ".join(chosen)


def _lists(style: Style) -> list[str]:
    random = style.random
    left = random.one(0.0, 0.0, random.uniform(0.6, 2.2))
    gap = random.one(0.0, 0.0, 0.1, 0.3, 0.6)
    rules = [
        f".shape {{ display: inline-block; background: {random.one(style.ink, style.color)};"
        f" vertical-align: .15em; width: {random.uniform(0.28, 0.45):.2f}em;"
        f" height: {random.uniform(0.28, 0.45):.2f}em }}",
        ".shape.disc { border-radius: 50% } .shape.dash { height: .1em; width: .6em }",
        f".badge {{ display: inline-block; background: {random.one(style.color, style.dark)};"
        " color: #fff; text-align: center; font-weight: 700; text-indent: 0;"
        f" min-width: 1.5em; line-height: 1.5; border-radius: {random.one(0, 3, 50)}px }}",
        f"ul {{ list-style: none; margin: 0 0 {max(style.gap, 0.3)}em;"
        f" padding: 0 0 0 {left}em }}",
        f"ul ul {{ margin: 0; padding-left: {random.uniform(0.9, 2.2):.2f}em }}",
        f"li {{ margin: 0 0 {gap}em }} li > ul {{ text-indent: 0 }}",
    ]
    for level, (_, way, room) in enumerate(style.marks):
        name = f"li.level{level}"
        if way == "hang":
            rules.append(
                f"{name} {{ padding-left: {room:.2f}em; text-indent: -{room:.2f}em }}"
                f" {name} > .mark {{ display: inline-block; width: {room:.2f}em;"
                " text-indent: 0 }"
            )
        elif way == "block":
            rules.append(f"{name} {{ text-indent: {random.one(0, 1.4)}em }}")
    return rules


def _notes_and_captions(style: Style) -> list[str]:
    random = style.random
    size = random.uniform(0.72, 0.95)
    look = random.one("", "", "font-style: italic;", f"color: {style.gray};")
    align = random.one("left", "left", "center")
    return [
        f"caption, figcaption {{ font-size: {size:.2f}em; {look} text-align: {align};"
        f" line-height: 1.25; margin: .35em 0 .35em; padding: .2em 0 }}",
        f"caption {{ caption-side: {'top' if style.caption_is_above else 'bottom'} }}",
        f".note {{ font-size: {random.uniform(0.7, 0.88):.2f}em; line-height: 1.25;"
        " margin: 0 0 .25em; text-align: left; text-indent: 0 }",
        "figure { margin: .6em 0; break-inside: avoid }",
        "h1, h2, h3, h4 { break-after: avoid }",
        f".fine {{ font-size: {random.uniform(0.72, 0.9):.2f}em }}",
        f".muted {{ color: {style.gray} }}",
        f".lead {{ font-size: {random.uniform(1.08, 1.3):.2f}em; text-indent: 0 }}",
        ".plain { text-indent: 0; text-align: left }",
        "sup { line-height: 0; font-size: .7em }",
    ]


def _furniture(style: Style) -> list[str]:
    """Sidebars, cards, boxes, heads and feet, code."""
    random = style.random
    boxes = [
        "border: 1px solid #999;",
        f"background: {style.ground};",
        f"border: 1px solid {style.color}; border-radius: 6px;",
        f"border-top: 3px solid {style.color}; background: {style.ground};",
        "box-shadow: 0 1px 4px #0004;",
        f"border-left: 4px solid {style.color};",
    ]
    quiet = random.one(f"color: {style.gray};", "", "font-style: italic;")
    small = f"font-size: {random.uniform(0.7, 0.92):.2f}em; {quiet}"
    rule = random.one("", "", "1px solid #999", "0.5px solid #000")
    below = f"border-bottom: {rule}; padding-bottom: .3em;" if rule else ""
    over = f"border-top: {rule}; padding-top: .3em;" if rule else ""
    return [
        f".box {{ {random.choice(boxes)} padding: {random.uniform(0.4, 1.2):.2f}em;"
        " margin: .7em 0 }",
        (
            ".card "
            f"{{ {random.choice([*boxes, '', ''])} padding: {random.uniform(0.3, 1):.2f}em }}"
        ),
        f"header {{ {small} {below} display: flex; justify-content: space-between;"
        f" margin-bottom: {random.uniform(0.8, 2.4):.1f}em; gap: 1em }}",
        f"footer {{ {small} {over} display: flex; justify-content: space-between;"
        f" margin-top: {random.uniform(0.8, 2):.1f}em; gap: 1.5em }}",
        "footer.one { justify-content: center; text-align: center }",
        f"pre {{ font: {random.uniform(0.78, 0.95):.2f}em / 1.3 {style.one_face('mono')};"
        " margin: .6em 0; white-space: pre-wrap; overflow-wrap: anywhere;"
        + random.one(
            "background: #f3f3f3; padding: .6em",
            "border: 1px solid #ccc; padding: .5em",
            "margin-left: 1.5em",
            "background: #23272e; color: #eee; padding: .7em",
        )
        + " }",
        f".button {{ display: inline-block; background: {style.color}; color: #fff;"
        f" border-radius: {random.one(0, 3, 20)}px; padding: .45em 1.3em; "
        "margin: .3em 0 }}",
        f".button.hollow {{ background: none; color: {style.color};"
        f" border: 1.5px solid {style.color} }}",
        f"blockquote {{ margin: .7em 0 .7em {random.one(0, 1, 2)}em; "
        + random.one(
            f"border-left: 3px solid {style.color}; padding-left: .8em",
            "font-style: italic; padding-right: 1.5em",
            f"font-size: 1.35em; color: {style.color}; line-height: 1.2",
        )
        + " }",
        ".leader { flex: 1 1 1em; min-width: 1em; margin: 0 .35em .28em;"
        " border-bottom: "
        f"{random.one('1px dotted #555', '1px dashed #888', '1px solid #bbb')} }}",
        ".sign { float: left; margin-right: .5em }",
    ]
