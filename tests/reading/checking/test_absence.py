"""Words without a place: invented, or not read."""

from vit_str.pages.page import Page, Word
from vit_str.reading.checking.absence import absences
from vit_str.reading.checking.judging import absent_probability
from vit_str.reading.checking.matching import match_words
from vit_str.reading.checking.places import words_of

LINES = (
    "The annual report of the company shows",
    "a profit of 12,580.50 in all regions and",
    "we thank our members for their patience.",
)
TEXT = " ".join(LINES)
LETTER = 10  # pixels


def page_of(lines: tuple[str, ...], unread: str = "") -> Page:
    """A page of one block; letters of one width, and room where a word was not read."""
    block = []
    for row, line in enumerate(lines):
        words = []
        left = 0
        for text in line.split():
            right = left + LETTER * len(text)
            top, bottom = 40 * row, 40 * row + 20
            corners = ((left, top), (right, top), (right, bottom), (left, bottom))
            if text != unread:
                words.append(Word(text, 1.0, corners))
            left = right + LETTER
        block.append(words)
    return Page(600, 400, (tuple(map(tuple, block)),))


def probabilities(text: str, page: Page) -> dict[str, float]:
    """Of the words that have no place, that the page has them."""
    words = text.split()
    printed = list(words_of(page, 1))
    found = absences(match_words(words, printed), words, printed)
    return {words[place]: absent_probability(each) for place, each in found.items()}


def test_a_word_that_was_not_read_is_more_probable_than_one_that_was_invented():
    (unread,) = probabilities(TEXT, page_of(LINES, unread="of")).values()
    (invented,) = probabilities(TEXT.replace(" in", " in no"), page_of(LINES)).values()
    assert unread > 2 * invented


def test_a_sentence_is_less_probable_than_a_word():
    page = page_of(LINES)
    (word,) = probabilities(TEXT.replace(" in", " in surely"), page).values()
    sentence = "Nobody surely expected such wonderful numbers here"
    values = probabilities(TEXT.replace("The", f"{sentence} The"), page)
    assert set(values) == set(sentence.split())
    assert max(values.values()) < word


def test_room_is_asked_for_only_between_words_of_one_line():
    words = TEXT.split()
    rooms = {}
    for unread in ("annual", "company", "a"):
        printed = list(words_of(page_of(LINES, unread), 1))
        found = absences(match_words(words, printed), words, printed)
        rooms[unread] = found[words.index(unread)].room
    assert rooms == {"annual": 1.0, "company": 1.0, "a": 0.5}


def test_marks_and_words_with_a_place_are_left_out():
    assert probabilities(TEXT, page_of(LINES)) == {}
    assert probabilities(TEXT.replace("and", "and *"), page_of(LINES)) == {}
