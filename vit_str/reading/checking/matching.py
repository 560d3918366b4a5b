"""Words of a text -> words of pages, in three steps: in runs, beside neighbors, and exchanged."""

from collections.abc import Sequence

from vit_str.reading.checking.alignment import Group, align
from vit_str.reading.checking.exchanges import with_exchanges
from vit_str.reading.checking.neighbors import with_neighbors
from vit_str.reading.checking.places import PageWord


def match_words(
    texts: Sequence[str],
    page_words: Sequence[PageWord],
    begin_lines: Sequence[bool] | None = None,
) -> list[Group]:
    """Which words of a text stand for which of pages; words without a partner are in no group.

    Args:
        texts: words in the order of the text.
        page_words: of all pages, in reading order.
        begin_lines: whether each word of the text begins a line; None if lines tell nothing.
    """
    groups = find_words(texts, page_words, begin_lines)
    return with_exchanges(groups, texts, page_words, begin_lines)


def find_words(
    texts: Sequence[str],
    page_words: Sequence[PageWord],
    begin_lines: Sequence[bool] | None = None,
) -> list[Group]:
    """The same where each word stands for what is most like it, be it exchanged or not."""
    printed = [each.word.text for each in page_words]
    groups = align(texts, printed, [each.line for each in page_words])
    return with_neighbors(groups, texts, page_words, begin_lines)
