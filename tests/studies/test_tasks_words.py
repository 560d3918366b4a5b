from vit_str.charset import Charset
from studies.tasks_words import ANY_STRINGS, DrawnWords, word_renderer

DIGITS = Charset("0123456789")


def test_words_are_the_same_every_time_and_fit_the_size() -> None:
    renderer = word_renderer(DIGITS, (16, 24), (2, 3), ANY_STRINGS, maximum_length=2)
    first, again = (renderer.batch(5, seed=1, index=0) for _ in range(2))

    assert first.images.shape == (5, 3, 16, 24)
    assert first.labels.shape[1] <= 2
    assert first.images.equal(again.images)
    assert first.labels.equal(again.labels)


def test_the_attention_lab_gets_every_drawn_word_once() -> None:
    batch = word_renderer(DIGITS, (16, 24), (2, 3), ANY_STRINGS, 2).batch(5, seed=1, index=0)
    parts = list(DrawnWords(batch, DIGITS).batches(2))

    assert [len(part) for part in parts] == [2, 2, 1]
    labels = [label for part in parts for label in part.labels or []]
    assert labels == [DIGITS.decode(ids) for ids in batch.labels.tolist()]
    assert parts[1].names == ["rendered 000002", "rendered 000003"]
