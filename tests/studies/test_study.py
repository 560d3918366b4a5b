import pytest

from studies import STUDIES, Study, study_of
from studies.study import POSTS


@pytest.mark.parametrize("name", STUDIES)
def test_every_study_says_what_it_is(name: str) -> None:
    study = study_of(name)
    assert isinstance(study, Study)
    assert study.id == name
    assert set(study.posts) <= set(POSTS)
    for text in (study.posts, study.claim, study.expectation, study.experiment):
        assert text.strip() == text != ""
    assert study.correction.strip() == study.correction
    for text in (study.claim, study.expectation, study.experiment):
        assert text.endswith((".", "!", '."'))


def test_unknown_studies_are_refused_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match="known are rnn-gradient"):
        study_of("nonsense")
