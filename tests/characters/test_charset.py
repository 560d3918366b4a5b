import pytest

from vit_str.characters.charset import (
    PADDING,
    PRINTABLE_ASCII,
    TWINS,
    Charset,
    charset_of,
)


def test_the_default_is_the_94_printable_characters():
    charset = Charset()
    assert len(charset) == 94
    assert charset.characters == PRINTABLE_ASCII
    assert charset.decode(charset.encode("Hello,World!")) == "Hello,World!"


def test_what_is_outside_is_reported_never_changed():
    charset = Charset("abc")
    assert charset.unknown("aXbéa") == "Xé"
    with pytest.raises(
        ValueError, match="'Xé', which the charset of 3 characters lacks"
    ):
        charset.encode("aXbéa")


def test_batches_are_padded():
    batch = Charset("abc").encode_batch(["ab", "", "c"])
    assert batch.tolist() == [[0, 1], [PADDING, PADDING], [2, PADDING]]
    assert Charset("abc").encode_batch([]).shape == (0, 0)


@pytest.mark.parametrize("characters", ["", "aba"])
def test_every_character_once(characters):
    with pytest.raises(ValueError, match="every character once"):
        Charset(characters)


def test_korean_begins_with_ascii_and_the_syllables_of_ks_x_1001_in_order():
    characters = charset_of("korean").characters[: 94 + 2350]
    assert characters.startswith(PRINTABLE_ASCII + "가각간")
    assert characters.endswith("힘힙힛힝")
    assert list(characters) == sorted(characters), (
        "KS X 1001 sorts syllables as Unicode does"
    )


@pytest.mark.parametrize(
    "text",
    [
        "뼈감자탕 大 ₩35,000 · 小 ₩25,000 (주)우리유통 ㈜한빛 제3조 ① ⑳ Ⅰ Ⅹ",
        "「민법」 『토지』 〈기생충〉 《삼국유사》 “네” ‘답변’ … – ※ ★ ☆ ■ □ ● ○ ▶ ▪",
        "59㎡ 23℃ ±5 3×4 ½ ㅋㅋㅎㅎㅠㅜ ㄱ~ㅎ 똠얌꿍 쫒아 펲 케잌 café",
    ],
)
def test_korean_writes_signs_menus_and_documents(text):
    assert not charset_of("korean").unknown(text)


def test_full_width_signs_and_dots_of_korean_print_are_folded():
    korean = charset_of("korean")
    assert korean.fold("ＡＰＩ　５～７세，ㆍ・ᆞ￦５") == "API 5~7세,···₩5"
    assert korean.fold("\u110f\u110f \u1172") == "ㅋㅋ ㅠ"
    shapes = set(korean.characters)
    assert not {c for c in shapes if TWINS.get(c) in shapes}


def test_european_writes_all_latin_alphabets_of_europe_and_spaces():
    european = charset_of("european")
    assert not european.unknown(
        "Crème brûlée für 5 €, ¿qué? Smørrebrød på åen, Þórður, œuvre"
    )
    assert not european.unknown(
        "Größe,naïve,ŁÓDŹ,señor,Čeština,İstanbul,ő,Țară,ķīlis,ŵy,ħaġa"
    )
    assert european.characters.startswith(PRINTABLE_ASCII + " ")
    assert not set("×÷\xa0\xad") & set(european.characters)


def test_latin_begins_with_european_so_that_weights_carry_over():
    latin = charset_of("latin").characters
    assert latin.startswith(charset_of("european").characters)
    assert len(latin) == len(set(latin)) == 537


@pytest.mark.parametrize(
    "text",
    [
        "„Wort“ “word” ‘word’ ‚Wort‘ «mot» »Wort« ‹mot› don’t word… 1914–1918 yes — no",
        "§ 12 № 5 20 °C 5′ 10″ † 1848 ‡ ¶ • · © ® ™ € 12,50",
        "£ 3 ¥ 9 5¢ 100₫ 9₴ 7₺ 5₹ 3₽ 8₩ 2₦ 4₱ 6₼",
        "½ ¼ ¾ ⅓ ⅞ m² x³ n⁰⁹ 1ª 2º 5 µm 3 × 4 ÷ 2 ± 1 ≤ ≥ ≈ ≠ ∞ √ 5 ‰",
        "→ ← ↑ ↓ ■ □ ▪ ● ○ ★ ☆ ✓ ✗ ▶ ▲ ▼",
        "Trăm năm trong cõi người ta, chữ tài chữ mệnh khéo là ghét nhau; Nguyễn Đình Thỏ ỷ lại",
        "TRẢI QUA MỘT CUỘC BỂ DÂU NHỮNG ĐIỀU TRÔNG THẤY MÀ ĐAU ĐỚN LÒNG Ẵ Ẳ Ặ Ẫ Ẩ Ỗ Ỡ Ữ Ỹ Ỵ",
        "Əliyev işlər; Ŵyŷ ẁ ẃ ẅ; Ċċ Ġġ Ħħ Żż; ĉu ĝi aŭdas ĥoron ĵurnalo ŝi; Türkmençe ý ž ň ä",
        "Ẹkáàbọ̀".replace("\u0300", "")
        + " ṣé àlàáfíà ni ń ǹ ḿ; ɓera ɗaki ƙarfe ƴaƴa; ɲ ɛ ɔ ŋ; ị ọ ụ ṅ",
        "nǐ hǎo lǜsè nǘ nǚ lüè zhōngguó; Ōsaka; ḍ ḥ ḷ ṃ ṇ ṛ ṣ ṭ ẓ ǧ; ĕ ĭ ŏ; Weiſsheit GROẞ",
    ],
)
def test_latin_writes_print_and_all_latin_alphabets_in_wide_use(text):
    assert not charset_of("latin").unknown(text)


def test_a_few_greek_signs_are_no_script_of_their_own():
    assert "Ω" in charset_of("latin").characters
    assert charset_of("latin").scripts == {"Latin"}
    assert charset_of("cyrillic-greek").scripts == {"Latin", "Cyrillic", "Greek"}
    assert Charset("абв").scripts == {"Cyrillic"}
    assert not Charset("0123").scripts


def test_latin_has_both_cases_of_every_letter():
    characters = charset_of("latin").characters
    alone = {c for c in characters if not {c.upper(), c.lower()} <= set(characters)}
    assert alone == set("ßİµΩ")


def test_a_letter_alone_is_a_sign_of_a_charset_not_a_script():
    """As Ω of resistances."""
    assert charset_of("latin").scripts == {"Latin"}
    assert Charset("abΩω").scripts == {"Latin", "Greek"}


def test_latin_has_one_of_the_characters_that_look_alike():
    latin = charset_of("latin")
    assert not {
        c for c in latin.characters if c in TWINS and TWINS[c] in latin.characters
    } - {"º"}
    assert (
        latin.fold("5\u2009\u2212\u20093 km\u00adh, \u2610 \u03bcm")
        == "5 – 3 km-h, □ µm"
    )
    assert latin.fold("1º") == "1º"
    assert charset_of("european").fold("1º −") == "1° −", (
        "twins that a charset lacks stay out"
    )


@pytest.mark.parametrize(
    "text",
    [
        "Съешь ещё этих мягких французских булок, да выпей чаю; ПОДЪЁМ № 5, «Эхо»",
        "Щастям б'єш жук їх глицю в фон й ґедзь пріч; Їжак, Ґудзик, ЄВРОПА „так“",
        "Ў Іўі худы жвавы чорт у зялёнай камізэльцы",
        "Жълтата дюля беше щастлива, че пухът ѝ цъфна",
        "Љубазни фењерџија чађавог лица хоће да ми покаже штос",
        "Ѕидарски пејзаж: шугав билмез со чудење џвака ќофте и кељ на туѓ цех; Ѐ",
        "Әрқашан ғажап өң, ұлы үміт, һәм іс; Ңұғыла",
        "Кыргыз тили: өмүр, таң; Тоҷикӣ: ғамхорӣ, қӯҳ, ҳамеша; Монгол: өвөл, үүл",
        "Ξεσκεπάζω την ψυχοφθόρα βδελυγμία· Άλφα Έψιλον Ήτα Ίδη Όχι Ύδρα Ώρα",
        "παϊδάκια, προϋπόθεση, Μαΐου, ταΰγετος, ΪΫ, Σίσυφος; GREEK & Latin words, 5 × 3 €",
    ],
)
def test_cyrillic_greek_writes_its_languages(text):
    assert not charset_of("cyrillic-greek").unknown(text)


def test_cyrillic_greek_has_both_cases_of_every_letter_and_no_twins():
    charset = charset_of("cyrillic-greek")
    characters = charset.characters
    assert characters.startswith(PRINTABLE_ASCII + " ")
    alone = {c for c in characters if not {c.upper(), c.lower()} <= set(characters)}
    assert alone == set("ΐΰ"), "which have no capitals"
    assert not {c for c in characters if c in TWINS and TWINS[c] in characters}
    assert charset.fold("5\u00a0\u00b5m \u2126\u2206 πού\u037e") == "5 μm ΩΔ πού;"


def test_names_are_joined_by_plus_and_files_are_read(tmp_path):
    assert charset_of("digits").characters == "0123456789"
    assert charset_of("digits+ascii").characters[:11] == "0123456789!"
    assert len(charset_of("digits+ascii+korean")) == len(charset_of("korean"))
    file = tmp_path / "mine.txt"
    file.write_text("가나다\r\nab\na\n", encoding="utf-8-sig")
    assert charset_of(str(file)).characters == "가나다ab"
    file.write_text("ab c\n", encoding="utf-8")
    assert charset_of(str(file)).characters == "ab c"
    assert charset_of("+-/xyz").characters == "+-/xyz"
    assert charset_of("aegmnr").characters == "aegmnr"
    assert charset_of("cab").characters == "cab"
    assert charset_of("latin+korean").characters.startswith(
        charset_of("latin").characters
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("koraen", "did you mean korean"),
        ("ascii+digit", "did you mean digits"),
        ("Latin", "did you mean latin"),
        ("german", "no charset 'german'. Known are .* latin, .* sort them"),
        ("ascii+greek", "no charset 'greek'"),
        ("none.txt", "no such file"),
        ("", "found none"),
        ("aba", "'a' repeated"),
        ("ab\x07", r"found U\+0007"),
    ],
)
def test_what_is_no_charset_is_said(text, message):
    with pytest.raises(ValueError, match=message):
        charset_of(text)


@pytest.mark.parametrize("content", [b"\xff\xfe\x00", b"\r\n"])
def test_files_that_hold_no_characters(content, tmp_path):
    file = tmp_path / "bad.txt"
    file.write_bytes(content)
    with pytest.raises(ValueError, match=r"bad\.txt: (not UTF-8|expected characters)"):
        charset_of(str(file))


@pytest.mark.parametrize("text", ["korean+ ", "latin+Ω", "Ω+digits"])
def test_a_name_joined_to_characters_is_refused(text):
    """It would be the letters of the name."""
    with pytest.raises(ValueError, match="joins a name to characters, and only names"):
        charset_of(text)
    with pytest.raises(ValueError, match="did you mean korean"):
        charset_of("latin+korea")
