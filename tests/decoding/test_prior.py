import os
from dataclasses import replace

import numpy as np
import pytest
import torch
from safetensors import safe_open

from vit_str.decoding.prior import (
    TABLE,
    WordPrior,
    known_languages,
    languages,
    prior_of,
)
from vit_str.decoding.search import Search
from vit_str.images.preprocessing import Preprocessing
from vit_str.torch_runtime.weights_file import WeightsFile
from vit_str.words.reader import Reader

EUROPEAN = "en*48+de+fr+es+it+pt+nl+sv+da+nb+fi+pl+cs+sk+hu+ro+tr+sh+sl+lt+lv+is+ca"


def prior(language: str) -> WordPrior:
    found = prior_of(language, None)
    assert found is not None
    return found


def test_the_table_has_the_languages_of_the_recipe_sorted_and_small():
    recipe = f"{EUROPEAN}+vi+ru+uk+bg+mk+sr+el+ko"
    assert set(languages()) == {part.partition("*")[0] for part in recipe.split("+")}
    assert TABLE.stat().st_size < 4_500_000
    with safe_open(TABLE, "numpy") as table:
        assert "CC BY-SA 4.0" in table.metadata()["licence"]
        for language in languages():
            planes = table.get_tensor(f"{language}.hashes")
            hashes = np.ascontiguousarray(planes.T).view(">u4")[:, 0].astype(int)
            assert (np.diff(hashes) > 0).all()
            assert len(table.get_tensor(f"{language}.zipf")) == len(hashes) > 10_000


@pytest.mark.parametrize(
    ("likelier", "other"),
    [
        ("SCHOOL", "SCHOOI"),
        ("Marriott", "Marriatt"),
        ("special", "speam"),
        ("Hello!", "He1lo!"),
        ("don't", "dan't"),
        ("School's", "Schaal's"),
        ("CITY ARTS", "CITY ART5"),
        ("well-known", "well-knawn"),
        ("$9.50", "xqzjk"),
    ],
)
def test_words_come_before_what_no_list_holds(likelier, other):
    first, second = prior("en").log_weights([likelier, other])
    assert first > second


def test_case_marks_and_compatible_forms_do_not_count():
    same = ["school", "SCHOOL", "School,", '"school"', "(School)"]
    assert len(set(prior("en").log_weights(same).tolist())) == 1
    assert (
        prior("de").log_weights(["Straße"])[0]
        == prior("de").log_weights(["STRASSE"])[0]
        > 0
    )
    composed, decomposed = prior("fr").log_weights(["été", "e\u0301te\u0301"])
    assert composed == decomposed > 0


@pytest.mark.parametrize(
    ("language", "likelier", "other"),
    [
        ("ru", "Москва", "Мосива"),
        ("uk", "п’ять", "п’ягь"),
        ("sr", "људи", "људи1"),
        ("sr", "ljudi", "lјudl"),
        ("el", "της", "τηχ"),
        ("el", "ΑΘΗΝΑ", "ΑΘΗΚΑ"),
        ("el", "Μαΐου", "Μαιοχ"),
    ],
)
def test_cyrillic_and_greek_words_come_first_too(language, likelier, other):
    first, second = prior(language).log_weights([likelier, other])
    assert first > second


def test_greek_words_are_the_same_with_and_without_accents():
    weights = prior("el").log_weights(["Αθήνα", "ΑΘΗΝΑ", "αθηνα"])
    assert len(set(weights.tolist())) == 1 and weights[0] > 0


def test_a_language_without_a_list_has_no_prior_of_its_own():
    assert prior_of("kk", None) is None
    assert prior_of("kk+ru", None) is prior_of("ru", None)


def test_languages_have_their_shares():
    german = prior("de").log_weights(["Flughafen"])
    assert (
        german
        > prior("en*3+de").log_weights(["Flughafen"])
        > prior("en").log_weights(["Ölöl"])
    )
    assert prior("en+de").log_weights(["Flughafen"]) == prior("de+en").log_weights(
        ["Flughafen"]
    )


def test_a_language_that_is_named_often_is_kept_once():
    """Requests may mix languages in any number of ways, each of which is kept for a while."""
    texts = ["Flughafen", "school"]
    often = prior("+".join(30 * ["en", "de"]))
    np.testing.assert_array_equal(
        often.log_weights(texts), prior("en+de").log_weights(texts)
    )
    assert len(often._languages) == 2
    other = prior("en*7+fr")
    assert often._languages[0]._zipf is other._languages[0]._zipf


def test_the_model_says_whose_words_it_knows():
    assert prior_of(None, None) is None
    assert prior_of(None, "ja+xx") is None
    assert prior_of("none", "en") is None
    assert prior_of(None, "ja+en") is prior_of("en", None)


@pytest.mark.parametrize("language", ["xx", "en+xx", "en*", "en*12345", "EN", ""])
def test_unknown_languages_are_refused_with_those_that_there_are(language):
    with pytest.raises(
        ValueError, match=r"language must be none, of be, bg, ca, cs, .*found"
    ):
        prior_of(language, None)


def test_words_of_a_file_have_the_counts_behind_tabs(tmp_path):
    file = tmp_path / "parts"
    file.write_text("Grommet\t90\nflange\t10\nsprocket\n", encoding="utf-8")
    grommet, flange, other = prior(str(file)).log_weights(
        ["GROMMET", "Flange", "gramnet"]
    )
    assert grommet > flange > other
    with pytest.raises(ValueError, match=r"none\.txt: cannot be read"):
        prior_of(str(tmp_path / "none.txt"), None)


@pytest.mark.parametrize("digits", [400, 4000, 5000])
def test_counts_of_any_size_are_taken(digits, tmp_path):
    file = tmp_path / "words.txt"
    file.write_text(f"Grommet\t{'9' * digits}\nflange\t10\n", encoding="utf-8")
    if digits > 4500:
        with pytest.raises(ValueError, match="write one word a line"):
            prior(str(file)).log_weights(["grommet"])
        return
    grommet, flange = prior(str(file)).log_weights(["grommet", "flange"])
    assert np.isfinite(grommet) and np.isfinite(flange) and grommet > flange


@pytest.mark.skipif(os.name != "posix", reason="devices and pipes of POSIX")
def test_files_that_are_no_list_of_words_are_refused_at_once(tmp_path):
    (tmp_path / "zero.txt").symlink_to("/dev/zero")
    os.mkfifo(tmp_path / "pipe.txt")
    with (tmp_path / "sparse.txt").open("wb") as file:
        file.truncate(1 << 30)
    for name, reason in (
        ("zero.txt", "more than 64 MB"),
        ("sparse.txt", "more than 64 MB"),
        ("pipe.txt", "holds no word"),
    ):
        with pytest.raises(ValueError, match=reason):
            prior(str(tmp_path / name))


def test_a_language_goes_with_free_texts_only():
    with pytest.raises(ValueError, match="without a lexicon, pattern or alphabet"):
        Search(alphabet="abc", language="en")
    Search(alphabet="abc", language="none")


def doubting(weights: WeightsFile, language: str | None) -> Reader:
    """A reader to whom every image is doubtful."""
    doubtful = replace(weights, preprocessing=Preprocessing(reread_below=1.0))
    return Reader(
        doubtful, "cpu", torch.float32, search=Search(n_best=5, language=language)
    )


def test_the_prior_chooses_among_the_texts_of_all_views(weights, word_image, tmp_path):
    image = word_image("word")
    free = doubting(weights, "none").read(image)
    assert free.prior == 0.0
    wanted = free.alternatives[-1].text
    assert wanted != free.text
    file = tmp_path / "words.txt"
    file.write_text(f"{wanted}\n", encoding="utf-8")
    reading = doubting(weights, str(file)).read(image)
    assert reading.text.casefold() == wanted.casefold()
    assert reading.prior > 0
    assert 0 < reading.confidence < 1
    scores = [each.confidence for each in (reading, *reading.alternatives)]
    assert scores == sorted(scores, reverse=True)
    assert sum(scores) <= 1 + 1e-9


@pytest.mark.parametrize(
    ("text", "is_held"),
    [("museum", True), ("“MUSEUM!”", True), ("museumm", False), ("12", False)],
)
def test_lists_hold_words_with_any_capitals_and_signs_at_their_ends(text, is_held):
    words = prior_of("en+de", None)
    assert words is not None
    assert words.holds(text) is is_held


def test_korean_words_are_known_with_particles_and_endings():
    korean = prior_of("ko", None)
    for word in ("학교", "사람은", "서울에서", "있습니다", "가격:"):
        assert korean.holds(word), word
    assert not korean.holds("뷁쒥")
    often, seldom = korean.log_weights(["않았습니다", "앓았습니다"])
    assert often > seldom + 1
    assert "ko" in known_languages()
