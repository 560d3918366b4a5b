import pytest

from vit_str.synthesis.hangul import final_of, inflected, with_final, with_particle


@pytest.mark.parametrize(
    ("noun", "particle", "together"),
    [
        ("책", "은/는", "책은"),
        ("나무", "은/는", "나무는"),
        ("물", "이/가", "물이"),
        ("물", "으로/로", "물로"),
        ("서울", "으로부터/로부터", "서울로부터"),
        ("집", "으로/로", "집으로"),
        ("학교", "으로/로", "학교로"),
        ("친구", "과/와", "친구와"),
    ],
)
def test_particles_follow_the_last_sound(noun, particle, together):
    assert with_particle(noun, particle) == together


@pytest.mark.parametrize(
    ("stem", "change", "kind", "ending", "word"),
    [
        ("먹", "", "stem", "습니다", "먹습니다"),
        ("가", "", "stem", "습니다", "갑니다"),
        ("만들", "", "stem", "습니다", "만듭니다"),
        ("만들", "", "stem", "는", "만드는"),
        ("만들", "", "eu", "면", "만들면"),
        ("만들", "", "eu", "ㄴ", "만든"),
        ("만들", "", "eu", "ㅁ", "만듦"),
        ("먹", "", "open", "었다", "먹었다"),
        ("가", "", "open", "었다", "갔다"),
        ("오", "", "open", "었습니다", "왔습니다"),
        ("배우", "", "open", "어요", "배워요"),
        ("마시", "", "open", "어서", "마셔서"),
        ("되", "", "open", "어야", "돼야"),
        ("쉬", "", "open", "었다", "쉬었다"),
        ("하", "", "open", "었다", "했다"),
        ("쓰", "", "open", "어서", "써서"),
        ("바쁘", "", "open", "어서", "바빠서"),
        ("모르", "", "open", "어요", "몰라요"),
        ("따르", "으", "open", "어", "따라"),
        ("이르", "러", "open", "었다", "이르렀다"),
        ("푸", "우", "open", "어", "퍼"),
        ("돕", "ㅂ", "open", "어서", "도와서"),
        ("춥", "ㅂ", "eu", "면", "추우면"),
        ("듣", "ㄷ", "eu", "니까", "들으니까"),
        ("깨닫", "ㄷ", "open", "었다", "깨달았다"),
        ("짓", "ㅅ", "open", "었다", "지었다"),
        ("낫", "ㅅ", "eu", "ㄴ", "나은"),
        ("파랗", "ㅎ", "eu", "ㄴ", "파란"),
        ("하얗", "ㅎ", "open", "어", "하얘"),
        ("높", "", "eu", "ㄹ수록", "높을수록"),
    ],
)
def test_verbs_and_adjectives_inflect(stem, change, kind, ending, word):
    assert inflected(stem, change, kind, ending) == word


def test_last_letters_change():
    assert (final_of("각"), final_of("가")) == ("ㄱ", " ")
    assert with_final("가나", "ㅄ") == "가낪"
    assert with_final("값", " ") == "가"
