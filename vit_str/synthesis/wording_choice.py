"""Which wording a language has."""

from vit_str.characters.alphabets import HANGUL, language_codes, script_of_language
from vit_str.synthesis.korean import korean_wording
from vit_str.synthesis.word_list_cache import KeepWordLists, keep_word_lists
from vit_str.synthesis.wording import Wording, latin_wording


def wording_of(
    script: str | None, word_lists: KeepWordLists = keep_word_lists
) -> Wording:
    """The wording of the languages of a script; its words are from these lists."""
    if script == HANGUL:
        return korean_wording(word_lists)
    return latin_wording()


def wording_of_languages(
    language: str, word_lists: KeepWordLists = keep_word_lists
) -> Wording:
    """The wording of the first of several languages, as in ``ko*8+en``."""
    codes = language_codes(language)
    script = script_of_language(codes[0]) if codes else None
    return wording_of(script, word_lists)
