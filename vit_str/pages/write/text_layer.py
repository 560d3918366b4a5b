"""How large and where words are set behind a scan, so that programs copy them in order.

OCRmyPDF sets a line in a font as high as its box is above the baseline. ``pdftotext`` and the
viewers made of poppler join words to blocks by the sizes of fonts and the white between words, and
put blocks in order by what lies beside and below them:

* Lines below each other are one block if their fonts are equally large, and their baselines no
  farther apart than one and a half of that size.
* A block with nothing beside it reaches as far to the left and right as any block below it. So a
  heading beside a picture, or the number of a page below the white between columns, mixes columns.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice, pairwise
from statistics import median

from vit_str.pages.arrange.frame import text_quarters
from vit_str.pages.page import Page, Point, Word
from vit_str.pages.write.hocr import line_title
from vit_str.pages.write.printed_lines import BELOW, DESCENT, baseline, printed_lines
from vit_str.pages.write.straightened import straightened
from vit_str.pages.write.whole_rows import whole_rows

_EM = 1.8  # size of a font over the height of its small letters
_SMALL = 0.5  # that height over the one of a word
_BELOW = 0.25  # of a font is below the baseline
_LARGEST_SHARE = 1.12  # times the usual one is that of small letters in a word, at most
_SAME_SIZE = 0.15  # by which sizes of fonts may differ that are taken for one
_LEVEL = 2.0  # of the size of its font, by which a whole page may rise and be set level
_LONG = 3.0  # length over height of a line whose slope tells how a page is tilted

# What poppler goes by, over the size of a font, with a little to spare
_BLOCK = 1.43  # most between the baselines of a block
_ONE_LINE = 0.53  # most between those of words on one line
_GUTTER = 1.05  # least white between columns
_OTHER_SIZE = 1.06  # times which a font is too large for a block

# By eye on articles, over the size of the font of their text
_RUNNING_TEXT = 6.0  # length of its lines
_FEWEST_LINES = 4  # of a column beside another one
_LARGEST = 1.7  # font that is set for it: larger ones would cover the line above
_CAPTION = 0.6  # sizes from here
_HEADING = 1.9  # to here are set in its size


@dataclass(frozen=True, slots=True)
class _Line:
    """Where a line is set, in pixels."""

    left: float
    right: float
    baseline: float
    size: float  # of its font
    lean: float  # by how much it is farther right when its page is level

    @property
    def level(self) -> tuple[float, float]:
        """Left and right when its page is level."""
        return self.left + self.lean, self.right + self.lean

    @property
    def is_long(self) -> bool:
        """Whether it may be one of running text."""
        return self.right - self.left > _RUNNING_TEXT * self.size

    def is_beside(self, other: "_Line") -> bool:
        """Whether they are at one height."""
        left, right = self.level
        other_left, other_right = other.level
        is_apart = right < other_left or other_right < left
        return is_apart and abs(self.baseline - other.baseline) < self.size


@dataclass(frozen=True, slots=True)
class SetWord:
    """Where a word is set, in pixels.

    Attributes:
        text: of the word.
        start: the point of its baseline where it begins.
        width: along its baseline.
        size: of its font.
        direction: of its baseline, along one of the sides of the page.
    """

    text: str
    start: Point
    width: float
    size: float
    direction: tuple[int, int] = (1, 0)


@dataclass(frozen=True, slots=True)
class _Column:
    """A column of running text beside another one.

    Attributes:
        left: of its lines when the page is level.
        right: of its lines when the page is level.
        lines: all that are inside, in any order.
    """

    left: float
    right: float
    lines: tuple[_Line, ...]

    @classmethod
    def around(cls, some: Sequence[_Line], lines: Sequence[_Line]) -> "_Column":
        """The column of some of the lines that may be in it."""
        left = min(line.level[0] for line in some)
        right = max(line.level[1] for line in some)
        inside = (
            line
            for line in lines
            if left - line.size < line.level[0] and line.level[1] < right + line.size
        )
        return cls(left, right, tuple(inside))

    def holds(self, line: _Line) -> bool:
        """Whether a line is one of its lines, also where its words are set wider than printed."""
        left, right = line.level
        return any(
            abs(each.baseline - line.baseline) < _ONE_LINE * line.size
            and left < each.level[1]
            and each.level[0] < right
            for each in self.lines
        )

    @property
    def bottom(self) -> float:
        """The lowest baseline."""
        return max(line.baseline for line in self.lines)

    @property
    def distances(self) -> Iterator[float]:
        """Distances from each baseline to the next one below it."""
        for above, below in pairwise(sorted(line.baseline for line in self.lines)):
            yield below - above


class TextLayer:
    """Says how large and where the lines of a page are set.

    Lines of about a size get one size, and those of a page that is tilted by a degree or two are
    level, each where it crosses the middle of the page; those of a page that is bent are straight.
    Lines in columns get a size with which
    each column is one block, if it can be.

    Args:
        page: as it was read.

    Attributes:
        page: the one to set. What stands below the white between two columns, as the number of a
            page, reaches them.
    """

    def __init__(self, page: Page) -> None:
        page = straightened(page)
        blocks = _in_few_sizes(page.blocks)
        rows = [printed_lines(row) for row in chain.from_iterable(blocks)]
        lines = list(chain.from_iterable(rows))
        slopes = [baseline(line)[0] for line in lines if _is_wide(line)]
        self._slope = median(slopes) if slopes else 0.0
        self._middle = page.width / 2, page.height / 2
        largest_rise = abs(self._slope) * page.width
        longest = max(lines, key=_length, default=())
        self._is_level = bool(longest) and largest_rise <= _LEVEL * _em(longest)
        # Cells of several lines beside each other are no columns
        alone = chain.from_iterable(row for row in rows if len(row) == 1)
        set_ = [self._placed(line) for line in alone if not text_quarters(line)]
        self._columns = _columns(set_) if self._is_level else []
        self._column_sizes = (
            _column_sizes(self._columns) if self._columns else (0.0, 0.0)
        )
        whole = whole_rows(blocks, _em, self._slope)
        reaching = (tuple(map(self._reaching_columns, block)) for block in whole)
        self.page = replace(page, blocks=tuple(reaching))

    def title(self, line: Sequence[Word]) -> str:
        """Where a line of `page` is set, for hOCR."""
        if text_quarters(line):
            return line_title(line)
        placed = self._placed(line)
        em = max(2, round(self._font_size(placed)))
        below = round(_BELOW * em)
        bottom = round(placed.baseline) + below
        left = max(0, round(placed.left))
        sides = left, max(0, bottom - em - below), round(placed.right), bottom
        slope = 0.0 if self._sets_level(line) else baseline(line)[0]
        return f"bbox {' '.join(map(str, sides))}; baseline {slope:.3f} {-below}"

    def set_words(self) -> Iterator[list[SetWord]]:
        """Where the words of `page` are set, line by line."""
        rows = chain.from_iterable(self.page.blocks)
        for line in chain.from_iterable(map(printed_lines, rows)):
            quarters = text_quarters(line)
            if quarters:
                yield [_turned(word, quarters) for word in line]
                continue
            placed = self._placed(line)
            size = self._font_size(placed)
            is_level = self._sets_level(line)
            words = []
            for word in line:
                box = word.box
                y = placed.baseline if is_level else _foot([word])[0][1]
                start = box.left, y
                words.append(SetWord(word.text, start, box.right - box.left, size))
            yield words

    def _sets_level(self, line: Sequence[Word]) -> bool:
        """Whether a line is set level, if it is not: sloping text is copied in pieces.

        On a page that does not lie flat before the camera every line has a slope of its own.
        """
        if self._is_level:
            return True
        width = line[-1].box.right - line[0].box.left
        return abs(baseline(line)[0]) * width <= _LEVEL * _em(line)

    def _placed(self, line: Sequence[Word]) -> _Line:
        """Where a line is set, in a font that fits its own letters."""
        left = line[0].box.left
        lean = 0.0
        if self._is_level:
            middle, center = self._middle
            y = median(y + self._slope * (middle - x) for x, y in _foot(line))
            lean = self._slope * (y - center)
        elif self._sets_level(line):
            y = median(y for _, y in _foot(line))
        else:
            slope, (x, y) = baseline(line)
            y += slope * (left - x)
        return _Line(left, line[-1].box.right, y, _em(line), lean)

    def _font_size(self, line: _Line) -> float:
        """The font size of a line, among the others of its page."""
        usual, common = self._column_sizes
        if not usual:
            return line.size
        if any(column.holds(line) for column in self._columns):
            is_alike = _CAPTION < line.size / usual < _HEADING
            return common if is_alike else line.size
        ratio = line.size / common
        is_alike = 1 / _OTHER_SIZE < ratio < _OTHER_SIZE
        return common / _OTHER_SIZE if is_alike else line.size

    def _reaching_columns(self, line: tuple[Word, ...]) -> tuple[Word, ...]:
        """A line; if it is below the white between two columns, it reaches them."""
        if text_quarters(line):
            return line
        placed = self._placed(line)
        left, right = placed.level
        for before, after in pairwise(self._columns):
            if before.right <= left and right <= after.left:
                start = min(each.right for each in before.lines if each.is_long)
                end = min(each.left for each in after.lines if each.is_long)
                start -= placed.size
                # What ends the left column may have nothing beside it
                is_last = before.bottom < after.bottom + placed.size
                end = end + placed.size if is_last else min(end - 1, placed.right)
                sides = start, end
                return tuple(_stretched(word, placed, sides) for word in line)
        return line


def _foot(line: Sequence[Word]) -> list[Point]:
    """Points of the baseline of a line, in the middle of words whose letters all stand on it."""
    standing = [word for word in line if not BELOW.intersection(word.text)]
    share = 0.0 if standing else DESCENT
    points = []
    for word in standing or line:
        (left, start), (right, end) = word.polygon[3], word.polygon[2]
        below = share * (word.box.bottom - word.box.top)
        points.append(((left + right) / 2, (start + end) / 2 - below))
    return points


def _turned(word: Word, quarters: int) -> SetWord:
    """A word that runs down, upside down or up, by itself."""
    along, down = [(1, 0), (0, 1), (-1, 0), (0, -1)][quarters]
    lengths = [x * along + y * down for x, y in word.polygon]
    heights = [y * along - x * down for x, y in word.polygon]
    start = min(lengths)
    foot = max(heights) - DESCENT * (max(heights) - min(heights))
    return SetWord(
        text=word.text,
        start=(start * along - foot * down, start * down + foot * along),
        width=max(lengths) - start,
        size=_em([word]) if word.size else max(heights) - min(heights),
        direction=(along, down),
    )


def _in_few_sizes(
    blocks: Sequence[Sequence[Sequence[Word]]],
) -> list[list[tuple[Word, ...]]]:
    """Blocks of rows whose words have one size where those of their lines are about as large.

    Where a line has few letters, capitals may be taken for small ones: its size is no larger than
    its box tells.
    """
    rows = list(chain.from_iterable(blocks))
    lines = list(chain.from_iterable(map(printed_lines, rows)))
    share = _usual_share(lines)
    largest = [_LARGEST_SHARE * share * _height(line) for line in lines]
    sizes = [min(_size(line), most) for line, most in zip(lines, largest, strict=True)]
    common: list[float] = []
    by_length = sorted(
        zip(lines, sizes, strict=True), key=lambda each: -_length(each[0])
    )
    for _, size in by_length:
        if _like(size, common) is None:
            common.append(size)
    words = (
        replace(word, size=_like(size, common) or size)
        for line, size in zip(lines, sizes, strict=True)
        for word in line
    )
    return [[tuple(islice(words, len(row))) for row in block] for block in blocks]


def _like(size: float, sizes: Sequence[float]) -> float | None:
    """The first of some sizes that is about as large as another."""
    alike = (each for each in sizes if abs(size / each - 1) < _SAME_SIZE)
    return next(alike, None)


def _em(line: Sequence[Word]) -> float:
    """The size of a font that fits the letters of a line."""
    return _EM * _size(line)


def _columns(lines: Sequence[_Line]) -> list[_Column]:
    """Columns of running text, from the left; none where no two are beside each other.

    Args:
        lines: of a page, in reading order.
    """
    long = [line for line in lines if line.is_long]
    beside = [line for line in long if any(map(line.is_beside, long))]
    groups: list[list[_Line]] = []
    reach = 0.0
    for line in sorted(beside, key=lambda line: line.level):
        left, right = line.level
        if groups and left < reach:
            groups[-1].append(line)
            reach = max(reach, right)
        else:
            groups.append([line])
            reach = right
    groups = [group for group in groups if len(group) >= _FEWEST_LINES]
    if len(groups) < 2:
        return []
    # What is read before the first column belongs to no other one: a name above the second.
    start = min(lines.index(line) for line in groups[0])
    first, *others = groups
    return [
        _Column.around(first, lines),
        *(_Column.around(group, lines[start:]) for group in others),
    ]


def _column_sizes(columns: Sequence[_Column]) -> tuple[float, float]:
    """The size of the font of most lines in columns, and the one in which they are set."""
    usual = median(line.size for column in columns for line in column.lines)
    gutter = min(_white(before, after) for before, after in pairwise(columns))
    distances = [
        distance
        for distance in chain.from_iterable(column.distances for column in columns)
        if distance > _ONE_LINE * usual
    ]
    largest = min(
        _LARGEST * usual,
        gutter / _GUTTER,
        min(distances, default=usual) / _ONE_LINE,
    )
    joined = [each for each in distances if each <= _BLOCK * largest]
    return usual, max(usual, max(joined, default=0.0) / _BLOCK)


def _white(before: _Column, after: _Column) -> float:
    """Between two columns, as boxes see it: less on a tilted page than between their lines."""
    start = max(line.right for line in before.lines)
    return min(line.left for line in after.lines) - start


def _stretched(word: Word, line: _Line, sides: tuple[float, float]) -> Word:
    """A word of a line that is set between other sides."""
    left, right = sides
    scale = (right - left) / max(1.0, line.right - line.left)
    first, second, third, fourth = (
        (left + scale * (x - line.left), y) for x, y in word.polygon
    )
    return replace(word, polygon=(first, second, third, fourth))


def _length(line: Sequence[Word]) -> int:
    """Characters of a line, without spaces between words."""
    return sum(len(word.text) for word in line)


def _size(line: Sequence[Word]) -> float:
    """Height of the small letters of a line."""
    sizes = [word.size for word in line if word.size]
    if not sizes:
        sizes = [_SMALL * (word.box.bottom - word.box.top) for word in line]
    return median(sizes) or 1.0


def _height(line: Sequence[Word]) -> float:
    """The height of the words of a line, with the margin that a detector adds."""
    return median(word.box.bottom - word.box.top for word in line)


def _usual_share(lines: Sequence[Sequence[Word]]) -> float:
    """Height of small letters over that of words, in the middle of some lines."""
    shares = [
        _size(line) / max(1.0, _height(line))
        for line in lines
        if not text_quarters(line)
    ]
    return median(shares) if shares else _SMALL


def _is_wide(line: Sequence[Word]) -> bool:
    """Whether the slope of a line tells that of its page."""
    if len(line) < 2 or text_quarters(line):
        return False
    first = line[0].box
    width = line[-1].box.right - first.left
    return width > _LONG * (first.bottom - first.top)
