"""Whether a text is what pictures say: ``vit_str.check("page.png", text)``."""

import os
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from threading import get_ident
from typing import Any

from PIL import Image

from vit_str.decoding.search import Search
from vit_str.files import read_text, temporary_file
from vit_str.images.image_decoding import Source, without_array
from vit_str.images.loading import BinaryFile, file_bytes, load_image, source_name
from vit_str.images.refusals import UnreadableImage
from vit_str.pages.page import Page
from vit_str.pages.pictures import PageOptions, pictures_in
from vit_str.pages.read.sure_words import MINIMUM_CONFIDENCE
from vit_str.pages.reader import PageReader, load_page
from vit_str.reading.checking.absence import Absence, absences
from vit_str.reading.checking.alignment import Group
from vit_str.reading.checking.checked import (
    Checked,
    CheckedWord,
    MissingWord,
    PageSize,
)
from vit_str.reading.checking.evidence import Witnesses, is_doubtful
from vit_str.reading.checking.judging import (
    Evidence,
    absent_probability,
    together,
    verdict_of,
)
from vit_str.reading.checking.matching import match_words
from vit_str.reading.checking.places import PageWord, Place, places_of, words_of
from vit_str.reading.checking.texts import (
    GivenText,
    TextWord,
    format_of_name,
    parse_text,
)

_KEPT = 4  # pages that stay in memory; of longer files doubtful ones are drawn again


def check(
    source: Source,
    text: str | Path,
    *,
    format: str | None = None,  # noqa: A002 - as the option of the command
    pages: str = "1-",
    language: str | None = None,
    password: str | None = None,
    dpi: int | None = None,
    reader: PageReader | None = None,
) -> Checked:
    """Check a text that something else wrote against a picture, or the pages of a PDF or TIFF file.

    >>> import vit_str
    >>> checked = vit_str.check("page.png", "What a language model wrote.")  # doctest: +SKIP
    >>> [word.text for word in checked.words if word.verdict != "confirmed"]  # doctest: +SKIP

    Args:
        source: a path, the bytes of a file, an open file, a Pillow image, an array or a tensor.
        text: what the pages should say, or the path of a file that holds it.
        format: of the text: ``text``, ``markdown``, ``html``, ``hocr`` or ``jsonl``; None to tell
            by the name of its file, or by its looks.
        pages: that the text is of, such as ``"3-5"``, from 1.
        language: whose words and letters to expect, as ``--language``; None for those of the model.
        password: of a locked PDF file.
        dpi: resolution at which PDF pages are drawn, in dots per inch; None for what fits.
        reader: of `load_checking_reader`; None for one that is kept for the next text.

    Raises:
        UnreadableImage: none of the pages can be read.
        ValueError: a text without words, or that is no text; no such format or language; a
            language beside a reader; or OpenCV is not installed.
        OSError: the file of the text cannot be read.
    """
    given = _given(text, format)
    if reader is not None and language is not None:
        raise ValueError("a reader has its language; give one of both")
    options = PageOptions.of(pages, resolution=dpi, password=password)
    reader = reader or _loaded(language, get_ident())
    return PageChecker(reader).check(source, given, options)


def load_checking_reader(*arguments: Any, **options: Any) -> PageReader:
    """A page reader that keeps doubtful words too, see `vit_str.load_page`."""
    return load_page(*arguments, **options, minimum_confidence=0.0)


@lru_cache(maxsize=2)
def _loaded(language: str | None, thread: int) -> PageReader:
    """One for each thread: to load it takes longer than to read a page."""
    search = Search(language=language) if language else None
    return load_checking_reader(search=search)


def _given(text: str | Path, format_: str | None) -> GivenText:
    if isinstance(text, str):
        return parse_text(text, format_)
    return parse_text(text_of_file(text), format_ or format_of_name(str(text)))


def text_of_file(path: str | os.PathLike[str]) -> str:
    """Contents of a file.

    Raises:
        ValueError: it is no text in UTF-8.
        OSError: it cannot be read.
    """
    try:
        return read_text(Path(path))
    except UnicodeDecodeError:
        raise ValueError(f"{path}: not UTF-8 text; save it as UTF-8") from None


class PageChecker:
    """Checks texts with the readers of a page reader.

    Args:
        reader: which should keep doubtful words, see `load_checking_reader`.
    """

    def __init__(self, reader: PageReader) -> None:
        self._reader = reader
        self._witnesses = Witnesses(reader)

    def check(
        self,
        source: Source,
        given: GivenText,
        options: PageOptions | None = None,
        on_page: Callable[[int, Image.Image], None] | None = None,
    ) -> Checked:
        """A text against the pages of a file.

        Args:
            source: see `check`.
            given: the text.
            options: which pages are looked at, and how PDF files are drawn.
            on_page: is called with the number and the picture of each page that was read.

        Raises:
            UnreadableImage: none of the pages can be read.
        """
        with _Pictures.of(source, options or PageOptions()) as pictures:
            page_words: list[PageWord] = []
            sizes = []
            for number, picture in pictures.read():
                page = self._reader.read(picture)
                first_line = page_words[-1].line + 1 if page_words else 0
                page_words += words_of(page, number, first_line)
                sizes.append(PageSize(number, page.width, page.height))
                if on_page is not None:
                    on_page(number, picture)
            if not sizes:
                raise pictures.failed()
            errors = [error.reason for error in pictures.errors]
            return self._compared(given, page_words, sizes, errors, pictures.again)

    def compare(self, picture: Image.Image, page: Page, given: GivenText) -> Checked:
        """A text against a picture that this reader has read already."""
        size = PageSize(1, page.width, page.height)
        return self._compared(
            given, list(words_of(page, 1)), [size], [], lambda _: picture
        )

    def _compared(
        self,
        given: GivenText,
        page_words: Sequence[PageWord],
        sizes: Sequence[PageSize],
        errors: Sequence[str],
        picture: Callable[[int], Image.Image],
    ) -> Checked:
        texts = [word.text for word in given.words]
        groups = match_words(texts, page_words, given.begin_lines())
        evidence = self._evidence(groups, texts, page_words, picture)
        absent = absences(groups, texts, page_words)
        words = [
            _checked_word(word, evidence.get(place, ()), absent.get(place))
            for place, word in enumerate(given.words)
        ]
        missing = _missing(groups, page_words)
        return Checked(given.text, words, missing, sizes, errors)

    def _evidence(
        self,
        groups: Sequence[Group],
        texts: Sequence[str],
        page_words: Sequence[PageWord],
        picture: Callable[[int], Image.Image],
    ) -> dict[int, list[tuple[Place, Evidence]]]:
        """Readings of each word of the text that has a place."""
        asked: list[tuple[int, Place]] = []
        for group in groups:
            parts_of = places_of(group, texts, page_words)
            for index, parts in zip(group.text, parts_of, strict=True):
                asked += [(index, part) for part in parts]
        asked.sort(key=lambda each: each[1].page_word.page)
        found = defaultdict(list)
        for number, each in groupby(asked, lambda pair: pair[1].page_word.page):
            pairs = list(each)
            places = [place for _, place in pairs]
            is_needed = any(map(is_doubtful, places))
            image = picture(number) if is_needed else None
            judged = self._witnesses.look(places, image)
            for (index, place), evidence in zip(pairs, judged, strict=True):
                found[index].append((place, evidence))
        return found


def _checked_word(
    word: TextWord,
    parts: Sequence[tuple[Place, Evidence]],
    absence: Absence | None,
) -> CheckedWord:
    if absence is not None:
        return CheckedWord(*word, "absent", absent_probability(absence))
    if not parts:
        return CheckedWord(*word, "doubtful", 0.5)  # a mark that nobody reads
    evidence = [each for _, each in parts]
    places = [place for place, _ in parts]
    probability = together(evidence)
    worst = min(evidence, key=lambda each: each.probability)
    is_same = all(each.is_same for each in evidence)
    found = " ".join(place.found for place in places)
    return CheckedWord(
        text=word.text,
        start=word.start,
        end=word.end,
        verdict=verdict_of(probability),
        probability=probability,
        page=places[0].page_word.page,
        boxes=tuple(place.box for place in places),
        found=found,
        likelihood=worst.likelihood,
        found_likelihood=worst.found_likelihood,
        read_by=worst.read_by,
        differs_in_typography=is_same and found != word.text,
    )


def _missing(
    groups: Sequence[Group], page_words: Sequence[PageWord]
) -> list[MissingWord]:
    """Words of pages that no word of the text stands for, and that are surely there."""
    after = {place: group.text[-1] + 1 for group in groups for place in group.page}
    missing = []
    last = 0
    for place, each in enumerate(page_words):
        last = after.get(place, last)
        if place in after or not any(map(str.isalnum, each.word.text)):
            continue
        own = each.word.confidence ** (1 / len(each.word.text))
        if max(own, each.line_confidence) >= MINIMUM_CONFIDENCE:
            word = MissingWord(
                text=each.word.text,
                probability=float(each.word.confidence),
                page=each.page,
                box=each.box(),
                after=last,
            )
            missing.append(word)
    return missing


class _Pictures:
    """The pages of a file, of which some are looked at twice."""

    def __init__(self, source: Any, name: str, options: PageOptions) -> None:
        self._source = source
        self._name = name
        self._options = options
        self._kept: dict[int, Image.Image] = {}
        self.errors: list[UnreadableImage] = []

    @classmethod
    @contextmanager
    def of(cls, source: Source, options: PageOptions) -> Iterator["_Pictures"]:
        """Those of a file, or the only one in memory."""
        name = source_name(source)
        if isinstance(source, BinaryFile):
            source = file_bytes(source, name)
        if not isinstance(source, bytes):
            yield cls(source, name, options)
            return
        with temporary_file(source, ".image") as path:
            yield cls(path, name, options)

    def read(self) -> Iterator[tuple[int, Image.Image]]:
        """Numbers and pictures of all pages that can be read."""
        if not isinstance(self._source, str | os.PathLike):
            only = load_image(without_array(self._source))
            self._kept[1] = only
            yield 1, only
            return
        pictures = pictures_in(os.fspath(self._source), self._options)
        for number, picture in zip(self._options.numbers, pictures, strict=False):
            if isinstance(picture, UnreadableImage):
                error = UnreadableImage(self._name, picture.reason)
                self.errors.append(error)
                continue
            if len(self._kept) < _KEPT:
                self._kept[number] = picture
            yield number, picture

    def again(self, number: int) -> Image.Image:
        """A page that was read."""
        if number in self._kept:
            return self._kept[number]
        options = PageOptions(
            ((number, number),), self._options.resolution, self._options.password
        )
        picture = next(pictures_in(os.fspath(self._source), options))
        if isinstance(picture, UnreadableImage):
            raise UnreadableImage(self._name, picture.reason)
        return picture

    def failed(self) -> UnreadableImage:
        """Why there is no page."""
        reason = "has none of the pages that are asked for"
        return self.errors[0] if self.errors else UnreadableImage(self._name, reason)
