"""Letters that look alike follow the word, then the line, then the language."""

import pytest

from vit_str.characters.alphabets import ALPHABETS, SAME_SHAPES, script_of, scripts_in
from vit_str.characters.charset import charset_of
from vit_str.decoding.readings import Character, Reading
from vit_str.scripts.one_script import one_script, script_of_lines, with_one_script

# Cyrillic to Latin
LOOK_ALIKES = str.maketrans("АВЕКМНОРСТХаеорсух", "ABEKMHOPCTXaeopcyx")


def read(text: str) -> Reading:
    characters = tuple(Character(character, 0.9) for character in text)
    return Reading(text, 0.9 ** len(text), characters)


@pytest.mark.parametrize(
    "word",
    [
        "Москва",
        "ресторан",
        "МЕТРОПОЛИТЕН",
        "Софія",
        "Αθήνα",
        "Ελλάδα",
        "ΚΑΦΕΝΕΙΟ",
        "Cola",
        "window",
    ],
)
def test_letters_that_look_alike_follow_the_others_of_the_word(word):
    (script,) = scripts_in(word)
    for other in SAME_SHAPES:
        mixed = "".join(
            SAME_SHAPES[other].get(character, character) for character in word
        )
        assert one_script(mixed) == word, (mixed, script)


def test_moscow_never_has_a_latin_letter():
    mixed = "Москва".translate(LOOK_ALIKES)
    assert mixed != "Москва"
    assert one_script(mixed) == "Москва"


def test_letters_that_differ_a_little_follow_the_word_too():
    assert one_script("Мocквa kофе уmный") == "Москва кофе умный"
    assert one_script("Kαλημέρα τiμή") == "Καλημέρα τιμή"


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("COP на TOM", "СОР на ТОМ"),  # Latin letters in a Russian line
        ("the СОР and ТОМ", "the COP and TOM"),  # Cyrillic ones in an English line
        ("TO είναι NATO", "ΤΟ είναι ΝΑΤΟ"),
        ("COCA-COLA и кофе", "COCA-COLA и кофе"),  # the word comes before the line
        ("СОСА-COLA и кофе", "COCA-COLA и кофе"),
        # No Russian letter, a Roman numeral
        ("IT-компания в XX веке", "IT-компания в XX веке"),
        ("ХІХ століття", "XIX століття"),
        ("i він, i вона: їжа", "і він, і вона: їжа"),
        ("ja сам њен", "ја сам њен"),
        ("он и ja её подъезд", "он и ja её подъезд"),
    ],
)
def test_words_of_look_alikes_only_follow_their_line(line, wanted):
    assert one_script(line) == wanted


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        (
            "пишите на cop@mail.ru и на www.bee.com",
            "пишите на cop@mail.ru и на www.bee.com",
        ),
        ("пишите на сор@mail.ru", "пишите на cop@mail.ru"),
        ("телефоны Nokia, Sony и Opera", "телефоны Nokia, Sony и Opera"),
        ("купил HTC-карту и USB-C", "купил НТС-карту и USB-C"),
        ("модель X5 и бумага А4", "модель X5 и бумага А4"),  # as they were read
        ("номер А123ВC77 найден", "номер А123ВС77 найден"),  # most of it was Cyrillic
        ("paper А4 is here", "paper A4 is here"),  # Cyrillic is not of a Latin line
        ("в 90-x годах", "в 90-х годах"),
        ("в Х веке и в ХХ веке", "в X веке и в XX веке"),
        ("в X–XI веках", "в X–XI веках"),
        ("подпись X. Иванов", "подпись Х. Иванов"),  # an initial
        ("книга «Modern С++ Design», язык С#.", "книга «Modern C++ Design», язык C#."),
        ("утром 20 °С, днём +25°С.", "утром 20 °C, днём +25°C."),
        ("весит 5 kг, длина 10 cм", "весит 5 кг, длина 10 см"),
        ("weight 5 kg, 10 cm", "weight 5 kg, 10 cm"),
    ],
)
def test_addresses_names_codes_numerals_and_units(line, wanted):
    assert one_script(line) == wanted


@pytest.mark.parametrize(
    "line",
    [
        "resistor 10 kΩ, 5 μA, 20 μPa",
        "резистор 10 kΩ, 4 MΩ, 5 μA",
        "A = π r",
        "angle α at the point C",
    ],
)
def test_greek_signs_leave_latin_letters_as_they_are(line):
    assert one_script(line) == line


def test_a_unit_is_written_as_such():
    assert one_script("10 κΩ, 5 μΑ, 3 МΩ") == "10 kΩ, 5 μA, 3 MΩ"
    assert one_script("με τη ΜΟΝΗ μας") == "με τη ΜΟΝΗ μας", "words are no units"


@pytest.mark.parametrize(
    ("language", "wanted"),
    [
        (None, "TOM"),
        ("none", "TOM"),
        ("words.txt", "TOM"),
        ("en", "TOM"),
        ("ru", "ТОМ"),
        ("ru*3+en", "ТОМ"),
        ("en+ru", "TOM"),
        ("el", "ΤΟΜ"),
    ],
)
def test_the_language_decides_what_the_line_does_not(language, wanted):
    assert one_script("TOM", language) == wanted
    assert one_script("ТОМ", "ru") == "ТОМ", "Cyrillic as it was read"


def test_without_a_line_and_a_language_a_word_stays_as_most_of_it_was_read():
    assert one_script("COР") == "COP"
    assert one_script("СОP") == "СОР"
    assert one_script("GOOD ГО") == "GOOD ГО", "Latin has no letter that looks like Г"


@pytest.mark.parametrize(
    "line",
    ["", "12 %", "A1 — 5", "naïve Größe Ёлка", "한국 TOM", "µm ª 3º", "x²", "Ə ɓ Đ"],
)
def test_other_characters_stay_as_they_are(line):
    assert one_script(line) == line


def test_every_look_alike_has_its_own_script():
    for script, letters in SAME_SHAPES.items():
        assert {script_of(letter) for letter in letters.values()} == {script}
        assert all(letters[letter] == letter for letter in letters.values())
    for letters in ALPHABETS.values():
        assert len(scripts_in(letters)) == 1
        assert len(set(letters)) == len(letters)


def test_readings_of_a_line_keep_their_characters_and_confidences():
    readings = [read("COP"), read("на"), read("Mocквa")]
    charset = charset_of("cyrillic-greek")
    changed = with_one_script(readings, charset)
    assert [reading.text for reading in changed] == ["СОР", "на", "Москва"]
    for before, after in zip(readings, changed, strict=True):
        assert "".join(c.character for c in after.characters) == after.text
        assert after.confidence == before.confidence
    assert changed[1] is readings[1]
    assert with_one_script([read("COP на TOM")], charset)[0].text == "СОР на ТОМ"


def test_what_reads_one_script_only_is_left_alone():
    readings = [read("TOM")]
    assert with_one_script(readings, charset_of("latin"), "ru") == readings
    assert (
        with_one_script(readings, charset_of("cyrillic-greek"), "ru")[0].text == "ТОМ"
    )


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("писала вона З травня", "писала вона 3 травня"),
        ("ряд З, место 2З", "ряд 3, место 23"),
        ("дом З", "дом 3"),
        ("З0 марта и З-й день", "30 марта и 3-й день"),
        ("в З-го числа, З–5 лет", "в 3-го числа, 3–5 лет"),
        ("пришла, З мая", "пришла, 3 мая"),
        ("З Києва приїхали. З ними", "З Києва приїхали. З ними"),
        ("Иван З. Петров", "Иван З. Петров"),
        ("фильм «З» и ЗИЛ-130", "фильм «З» и ЗИЛ-130"),
        ("ЗУСТРІЧ З ДРУГОМ", "ЗУСТРІЧ З ДРУГОМ"),
        ("номер З123АВ", "номер З123АВ"),
    ],
)
def test_a_ze_where_no_letter_can_stand_is_a_three(line, wanted):
    assert one_script(line) == wanted


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("check-in c 14:00; Wi-Fi, кофе", "check-in с 14:00; Wi-Fi, кофе"),
        ("c ошибкой File not found: config", "с ошибкой File not found: config"),
        ("o Windows и y Linux", "о Windows и у Linux"),
        ("называет её а classic", "называет её a classic"),
        ("Rust сложный, a Python простой", "Rust сложный, а Python простой"),
        ("это a то", "это а то"),
        ("from a to c in English", "from a to c in English"),
        ("o χάρτης by Google Maps Inc", "ο χάρτης by Google Maps Inc"),
        ("vitamin c: кофе и tea time", "vitamin c: кофе и tea time"),
    ],
)
def test_single_small_letters_are_words_of_the_script_that_has_them(line, wanted):
    assert one_script(line) == wanted


def test_a_line_that_does_not_tell_follows_its_page():
    assert one_script("COP TOM") == "COP TOM"
    assert one_script("COP TOM", page="Cyrillic") == "СОР ТОМ"
    assert one_script("СОР ТОМ", "ru", page="Latin") == "COP TOM"
    assert one_script("COP на TOM", page="Latin") == "СОР на ТОМ", "the line tells more"
    assert one_script("IT", page="Cyrillic") == "IT", "Russian has no such letter"


def test_the_script_of_a_page_is_that_of_most_of_its_letters_that_tell():
    assert script_of_lines(["COP", "TOM"]) is None
    assert script_of_lines(["COP", "на доме", "big"]) == "Cyrillic"
    assert script_of_lines(["Annotation", "ОООО", "Visa"]) == "Latin"
