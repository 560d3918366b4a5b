"""Texts that something else wrote, in its own format -> the words that a page should show.

Marks and tags are structure, not words. Every word keeps its place in the text as it came, so that
it can be shown there and replaced there.
"""

import json
import re
from bisect import bisect_left
from collections.abc import Iterator
from html import unescape
from html.parser import HTMLParser
from itertools import accumulate
from typing import Any, NamedTuple

FORMATS = ("text", "markdown", "html", "hocr", "jsonl")
"""The kinds of files that hold texts."""

_ENDINGS = {
    ".txt": "text",
    ".md": "markdown",
    ".markdown": "markdown",
    ".html": "html",
    ".htm": "html",
    ".hocr": "hocr",
    ".jsonl": "jsonl",
    ".json": "jsonl",
}
# What stands within a word; all other tags part words
_INLINE = frozenset(
    re.findall(
        r"\w+",
        "a abbr b bdi bdo cite code data del em font i ins kbd mark q s samp small span "
        "strong sub sup time tt u var wbr",
    )
)
_PARTS = ("words", "lines", "blocks", "pages")  # of a page in JSON, the best first
_HIDDEN = frozenset(("script", "style", "head", "title", "template"))
# None of these crosses lines or looks far ahead: time grows with the length of a text only
_MARKDOWN_SIGNS = re.compile(
    r"^ {0,3}#{1,6}[ \t]|^[ \t]*\|?[ \t]*:?-{3,}:?[ \t]*\||\*\*\S|^ {0,3}[-*+] \S|^```|\]\(",
    re.MULTILINE,
)
_HTML_SIGNS = re.compile(r"\s*<(!doctype|html|\?xml|body|div|p|table|h[1-6])\b", re.I)
_HOCR_SIGNS = re.compile(r"\bclass\s*=\s*['\"]ocr(_page|x_word|_line)\b")
_TAGS = re.compile(
    r"<(/?)([a-zA-Z][a-zA-Z0-9]*)\b[^<>]*>|<!--(?:(?!<!--).)*?-->", re.DOTALL
)
_LINE_TAGS = re.compile(
    r"<(/?(tr|p|div|li|dt|dd|table|h[1-6]|pre|blockquote)\b|br\b|span[^<>]{0,200}?ocr_(line|par|header|caption|textfloat))",
    re.I,
)
_ENTITY = re.compile(r"&(#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z][a-zA-Z0-9]{1,31});")
_FRONT_MATTER = re.compile(r"\A\s*---\n.*?\n---[ \t]*(\n|\Z)", re.DOTALL)
_BREAKS = (
    re.compile(r"^ {0,3}(```|~~~).*$", re.MULTILINE),  # fences
    re.compile(
        r"^[ \t]*\|?([ \t]*:?-{2,}:?[ \t]*\|)+([ \t]*:?-{2,}:?)?[ \t]*$", re.MULTILINE
    ),
    re.compile(r"^ {0,3}([-*_][ \t]*){3,}$", re.MULTILINE),  # rules
    re.compile(r"^[ \t]*(=+|-+)[ \t]*$", re.MULTILINE),  # under headings
    re.compile(r"^ {0,3}#{1,6}(?=\s)|(?<=[ \t])#+[ \t]*$", re.MULTILINE),
    re.compile(r"^([ \t]*>)+", re.MULTILINE),
    re.compile(r"^[ \t]*[-*+](?=\s)([ \t]+\[[ xX]\](?=\s))?", re.MULTILINE),
    re.compile(r"!\[[^\]\n]{0,500}\]\([^)\n]{0,2000}\)"),  # pictures
    re.compile(r"(?<!\\)\|"),
)
_LINK = re.compile(
    r"\[([^\]\n]{0,500})\](\([^)\s]{0,2000}(?:\s\"[^\"\n]{0,500}\")?\)|\[[^\]\n]{0,500}\])"
)
_EMPHASIS = (
    re.compile(r"(?<![\\*])(\*{1,3})(?=\S)(?:[^*\n]|\n(?!\n))+?(?<=\S)(\*{1,3})"),
    re.compile(
        r"(?<![\\\w])(_{1,3})(?=\S)(?:[^_\n]|\n(?!\n)|(?<=\w)_(?=\w))+?(?<=\S)(_{1,3})(?!\w)"
    ),
    re.compile(r"(~~)(?=\S)[^~\n]+?(~~)"),
    re.compile(r"(`+)[^`\n]+?(`+)"),
)
_ESCAPE = re.compile(r"\\(?=[!-/:-@\[-`{-~])")


class TextWord(NamedTuple):
    """A word of a text, and where it stands in it.

    Attributes:
        text: as a page would show it.
        start: its first character in the text as it came.
        end: the character behind its last.
    """

    text: str
    start: int
    end: int


class GivenText(NamedTuple):
    """A text that is to be checked.

    Attributes:
        text: as it came; of JSON lines, what they say.
        words: in it.
    """

    text: str
    words: list[TextWord]

    def begin_lines(self) -> list[bool]:
        """Whether each word begins a line, a row of a table, or a paragraph."""
        found = []
        end = 0
        for word in self.words:
            between = self.text[end : word.start]
            is_break = _LINE_TAGS.search(between) if "<" in between else "\n" in between
            found.append(bool(is_break) or not end)
            end = word.end
        return found


def parse_text(text: str, format_: str | None = None) -> GivenText:
    """The words of a text.

    Args:
        text: as a program or a person wrote it.
        format_: one of `FORMATS`; None to tell by its looks.

    Raises:
        ValueError: no such format, a text without words, or JSON lines that hold no texts.
    """
    format_ = format_ or format_of_text(text)
    if format_ not in FORMATS:
        raise ValueError(f"no text format {format_!r}; known are {', '.join(FORMATS)}")
    if "\0" in text:
        raise ValueError("the text holds zero bytes, it is no text; give one in UTF-8")
    if format_ == "jsonl":
        text = _text_of_json(text)
    shown = _Shown(text)
    if format_ == "markdown":
        shown.leave_out_marks()
    if format_ in ("markdown", "html", "hocr"):
        shown.leave_out_tags(whole=format_ != "markdown")
    words = list(shown.words())
    if not words:
        raise ValueError("the text has no words; give what the page should say")
    return GivenText(text, words)


def format_of_name(name: str) -> str | None:
    """The format that the ending of a file says."""
    _, dot, ending = name.lower().rpartition(".")
    return _ENDINGS.get(dot + ending)


def format_of_text(text: str) -> str:
    """The format that a text looks like."""
    if text.lstrip().startswith(("{", "[")) and _rows(text) is not None:
        return "jsonl"
    if _HTML_SIGNS.match(text):
        return "hocr" if _HOCR_SIGNS.search(text) else "html"
    has_marks = _MARKDOWN_SIGNS.search(text) or _FRONT_MATTER.match(text)
    return "markdown" if has_marks or "</" in text else "text"


class _Shown:
    """Which characters of a text a page shows; the others part words, or join them."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.characters = list(text)
        self._ends: dict[int, int] = {}  # of entities, by their first character

    def leave_out_marks(self) -> None:
        """Take the marks of Markdown away, and what stands before the text."""
        if matter := _FRONT_MATTER.match(self.text):
            self._part(*matter.span())
        for pattern in _BREAKS:
            for match in pattern.finditer(self.text):
                self._part(*match.span())
        for match in _LINK.finditer(self.text):
            self._join(match.start(), match.start(1))
            self._join(match.end(1), match.end())
        for pattern in _EMPHASIS:
            for match in pattern.finditer(self.text):
                self._join(*match.span(1))
                self._join(*match.span(2))
        for match in _ESCAPE.finditer(self.text):
            self._join(*match.span())

    def leave_out_tags(self, whole: bool) -> None:
        """Take tags and entities away; of a ``whole`` document all that is not shown too."""
        if whole:
            for start, end, is_inline in _Tags(self.text).outside:
                (self._join if is_inline else self._part)(start, end)
        else:
            for match in _TAGS.finditer(self.text):
                is_inline = (match[2] or "").lower() in _INLINE
                (self._join if is_inline else self._part)(*match.span())
        for match in _ENTITY.finditer(self.text):
            start, end = match.span()
            if self.characters[start] == "&":
                self._join(start, end)
                self.characters[start] = unescape(match[0])
                self._ends[start] = end

    def words(self) -> Iterator[TextWord]:
        """The rest, parted by white space."""
        letters: list[str] = []
        start = end = 0
        for place, character in enumerate([*self.characters, " "]):
            if character.isspace():
                if letters:
                    yield TextWord("".join(letters), start, end)
                letters = []
            elif character and character not in "\u200b\u2060\ufeff":
                start = start if letters else place
                letters.append(character)
                end = self._ends.get(place, place + 1)

    def _part(self, start: int, end: int) -> None:
        self.characters[start:end] = " " * (end - start)

    def _join(self, start: int, end: int) -> None:
        self.characters[start:end] = [""] * (end - start)


class _Tags(HTMLParser):
    """Where a document has what is no text, and whether words go on behind it."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=False)
        lengths = map(len, text.split("\n"))
        self._starts = [0, *accumulate(length + 1 for length in lengths)]
        self._hidden = 0
        self._shown: list[tuple[int, int]] = []
        self._parting: list[int] = []
        # What nobody ends is a comment up to the end, which the parser would look for at each
        comment = text.find("<!--", text.rfind("-->") + 1)
        self.feed(text if comment < 0 else text[:comment])
        self.close()
        self.outside = list(self._gaps(len(text)))

    def _place(self) -> int:
        line, column = self.getpos()
        return self._starts[line - 1] + column

    def handle_starttag(self, tag: str, attrs: list[tuple[str, Any]]) -> None:
        """See `HTMLParser`."""
        self._hidden += tag in _HIDDEN
        self._note(tag, dict(attrs).get("class") or "")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, Any]]) -> None:
        """See `HTMLParser`."""
        self._note(tag, "")

    def handle_endtag(self, tag: str) -> None:
        """See `HTMLParser`."""
        self._hidden = max(0, self._hidden - (tag in _HIDDEN))
        self._note(tag, "")

    def _note(self, tag: str, class_: str) -> None:
        if tag not in _INLINE or class_.startswith("ocr"):
            self._parting.append(self._place())

    def handle_data(self, data: str) -> None:
        """See `HTMLParser`."""
        self._show(len(data))

    def handle_entityref(self, name: str) -> None:
        """See `HTMLParser`."""
        self._show(len(name) + 2)

    def handle_charref(self, name: str) -> None:
        """See `HTMLParser`."""
        self._show(len(name) + 3)

    def _show(self, length: int) -> None:
        if not self._hidden:
            self._shown.append((self._place(), self._place() + length))

    def _gaps(self, length: int) -> Iterator[tuple[int, int, bool]]:
        """Start and end of what is not shown, and whether words go on behind it."""
        before = 0
        for start, end in [*self._shown, (length, length)]:
            if start > before:
                first = bisect_left(self._parting, before)
                last = bisect_left(self._parting, start)
                yield before, start, first == last
            before = max(before, end)


def _text_of_json(text: str) -> str:
    """The texts in JSON lines: of words, of pages with words, or of a whole answer."""
    rows = _rows(text)
    texts = [line for row in rows or () for line in _texts(row)]
    if not texts:
        raise ValueError(
            "no texts in these JSON lines; expected objects with words, or with text"
        )
    return "\n".join(texts)


def _rows(text: str) -> list[Any] | None:
    """The values of a JSON file or of JSON lines; None if it is neither."""
    try:
        value = json.loads(text)
        return value if isinstance(value, list) else [value]
    except (ValueError, RecursionError):
        pass
    try:
        return [json.loads(line) for line in text.splitlines() if line.strip()]
    except (ValueError, RecursionError):
        return None


def _is_word(value: Any) -> bool:
    return isinstance(value, dict) and "text" in value and not {*_PARTS} & {*value}


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        if value and all(map(_is_word, value)):
            yield " ".join(str(each["text"]) for each in value)
        else:
            for each in value:
                yield from _texts(each)
    elif isinstance(value, dict):
        for name in (*_PARTS, "text", "natural_text"):
            if value.get(name):
                yield from _texts(value[name])
                return
