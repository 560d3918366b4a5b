from vit_str.evaluation.words.results import ReadWords, together


def test_words_of_all_sets_together():
    first = ReadWords(["a", "b"], ["a", "x"], [0.9, 0.1], ["m: missing"])
    second = ReadWords(["c"], [""], [None], [], ["d: damaged"], [(3, 4)], [7])
    whole = together([first, second])
    assert whole.labels == ["a", "b", "c"]
    assert whole.confidences == [0.9, 0.1, None]
    assert (whole.missing, whole.damaged) == (["m: missing"], ["d: damaged"])
    assert whole.right().tolist() == [True, False, False]
    assert whole.sizes == [None, None, (3, 4)]
    assert whole.places == [0, 1, 7]
    assert first.labels == ["a", "b"]
    scores = whole.scores()
    assert (scores.n, scores.unreadable, scores.missing) == (3, 1, 1)


def test_what_a_protocol_judges():
    words = ReadWords(["a", "!", "한", ""], ["A", "!", "한", ""], [0.5] * 4)
    assert words.judged(36).tolist() == [True, False, False, False]
    assert words.judged(94).tolist() == [True, True, False, False]
    assert words.judged("full").tolist() == [True, True, True, False]
    assert words.right(36).tolist() == [True]
    assert words.right("full").tolist() == [False, True, True]
