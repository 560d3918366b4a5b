import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from vit_str.characters.charset import Charset, charset_of
from vit_str.files import exclusive
from vit_str.synthesis import word_list_cache
from vit_str.synthesis.glyph_cache import load_or_draw_glyphs
from vit_str.synthesis.lexicon import Lexicon
from vit_str.synthesis.line_texts import LineTexts
from vit_str.synthesis.renderer import Renderer
from vit_str.synthesis.word_list_cache import WordList, keep_word_lists

LISTS = [
    WordList(["one", "two", "öñ\u2028ß"], [0.125, 0.375, 1.0], 3.0),
    WordList([], []),
    WordList(["x"], [2.0**-30], 0.5),
]


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv("VIT_STR_CACHE", str(folder))
    return folder


def never() -> list[WordList]:
    raise AssertionError("the words are in the cache")


def kept(folder: Path) -> Path:
    (file,) = folder.glob("words-*.safetensors")
    return file


def test_lists_come_back_as_they_were(cache):
    assert keep_word_lists(["purpose", 25], lambda: LISTS) == LISTS
    assert keep_word_lists(["purpose", 25], never) == LISTS
    assert {file.suffix for file in cache.iterdir()} == {".safetensors", ".lock"}


def test_shares_are_rounded_alike_with_a_file_and_without(cache, tmp_path, monkeypatch):
    lists = [WordList(["one", "two", "three"], [0.1, 0.4, 1.0])]
    kept_lists = keep_word_lists(["purpose"], lambda: lists)
    assert kept_lists[0].shares == pytest.approx([0.1, 0.4, 1.0], rel=1e-4)
    assert kept_lists[0].shares != lists[0].shares
    assert keep_word_lists(["purpose"], never) == kept_lists
    (tmp_path / "file").touch()
    monkeypatch.setenv("VIT_STR_CACHE", str(tmp_path / "file"))
    assert keep_word_lists(["purpose"], lambda: lists) == kept_lists


def test_nothing_is_written_through_links(cache, tmp_path):
    keep_word_lists(["purpose"], lambda: LISTS)
    precious = tmp_path / "precious"
    precious.write_text("mine")
    for path in list(cache.iterdir()):
        path.unlink()
        path.symlink_to(precious)
    assert keep_word_lists(["purpose"], lambda: LISTS) == LISTS
    assert precious.read_text() == "mine"
    assert not any(path.is_symlink() for path in cache.iterdir())


def test_what_the_lists_depend_on_is_told_apart(monkeypatch):
    keep_word_lists(["purpose", 25], lambda: LISTS)
    for settings in (["purpose", 24], ["other", 25]):
        assert keep_word_lists(settings, lambda: LISTS[2:]) == LISTS[2:]
    monkeypatch.setattr(word_list_cache, "version", lambda _: "0.0")
    assert keep_word_lists(["purpose", 25], lambda: LISTS[:1]) == LISTS[:1]


@pytest.mark.parametrize(("language", "longest"), [("en", 25), ("de*3+sv", 6)])
def test_words_and_their_shares_are_those_of_wordfreq(
    language, longest, cache, monkeypatch
):
    charset = charset_of("european")
    fresh = Lexicon(
        charset,
        language,
        maximum_length=longest,
        word_lists=lambda _, gather: gather(),
    )
    monkeypatch.setenv("VIT_STR_CACHE", str(cache))
    first = Lexicon(charset, language, maximum_length=longest)
    monkeypatch.setattr("vit_str.synthesis.writable_words.language_words", never)
    second = Lexicon(charset, language, maximum_length=longest)
    for lexicon in (first, second):
        assert lexicon._words == fresh._words
        assert lexicon._shares == pytest.approx(fresh._shares, rel=1e-4)
    assert first.sample(500, 7) == second.sample(500, 7)


def test_rendered_batches_are_the_same(font_folder, cache, monkeypatch):
    atlas = load_or_draw_glyphs(Charset(), [font_folder], font_folder.parent / "glyphs")
    first = Renderer(atlas, Lexicon(atlas.charset)).batch(8, 1, 0)
    monkeypatch.setattr("vit_str.synthesis.writable_words.language_words", never)
    second = Renderer(atlas, Lexicon(atlas.charset)).batch(8, 1, 0)
    assert first.images.equal(second.images)
    assert first.labels.equal(second.labels)


def test_running_text_is_the_same(monkeypatch):
    charset = Charset(Charset().characters + " ")
    first = LineTexts(charset, Lexicon(charset), "en*3+de")
    monkeypatch.setattr("vit_str.synthesis.line_texts.language_words", never)
    second = LineTexts(charset, Lexicon(charset), "en*3+de")
    assert second._languages == first._languages
    assert second._weights == first._weights == [3.0, 4.0]


def test_a_damaged_file_is_replaced(cache):
    keep_word_lists([], lambda: LISTS)
    file = kept(cache)
    whole = file.read_bytes()
    for damaged in (
        b"",
        b"something else",
        whole[:-20],
        whole.replace(b"two", b"t\no"),
    ):
        file.write_bytes(damaged)
        assert keep_word_lists([], lambda: LISTS) == LISTS
        assert file.read_bytes() == whole


def test_words_are_drawn_where_nothing_can_be_kept(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("VIT_STR_CACHE", str(tmp_path / "file"))
    assert keep_word_lists([], lambda: LISTS) == LISTS

    def nobody():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("VIT_STR_CACHE")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", nobody)
    assert keep_word_lists([], lambda: LISTS) == LISTS


def test_mistakes_are_still_told_in_one_line(cache):
    for _ in range(2):
        with pytest.raises(ValueError, match="language must be one of"):
            Lexicon(Charset(), "xx")
    assert not list(cache.glob("words-*.safetensors"))


def test_one_process_gathers_for_all(cache):
    keep_word_lists([], lambda: LISTS)
    file = kept(cache)
    whole = file.read_bytes()
    file.unlink()
    with ThreadPoolExecutor() as pool:
        with exclusive(file.with_suffix(".lock")):
            waiting = pool.submit(keep_word_lists, [], never)
            time.sleep(0.2)
            file.write_bytes(whole)
        assert waiting.result() == LISTS


def test_processes_that_start_together_draw_the_same(cache):
    program = (
        "from vit_str.characters.charset import Charset\n"
        "from vit_str.synthesis.lexicon import Lexicon\n"
        "print(Lexicon(Charset(), 'is').sample(20, 3))"
    )
    processes = [
        subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE)
        for _ in range(3)
    ]
    outputs = {process.communicate()[0] for process in processes}
    assert [process.returncode for process in processes] == [0, 0, 0]
    assert len(outputs) == 1
    kept(cache)
