import math

import pytest
import torch

from studies import Verdict, cross_attention
from vit_str.charset import Charset
from vit_str.weights import WeightsFile


def test_pairs_are_counted_with_start_and_end() -> None:
    charset = Charset("ab")
    model = cross_attention.PairModel(charset, ["ab", "ab", "a"])
    shares = model.log_shares.exp()

    # After the start: a three times, each of the three symbols with half a count more.
    assert shares[2].tolist() == pytest.approx([3.5 / 4.5, 0.5 / 4.5, 0.5 / 4.5])
    # After a: b twice, the end once.
    assert shares[0].tolist() == pytest.approx([0.5 / 4.5, 2.5 / 4.5, 1.5 / 4.5])
    errors, entropy = model.score(charset.encode_batch(["ab"]))
    expected = [3.5 / 4.5, 2.5 / 4.5, 2.5 / 3.5]
    assert errors == 0
    assert entropy == pytest.approx(-sum(map(math.log, expected)) / 3)


def test_short_words_beside_longer_ones_count_once() -> None:
    charset = Charset("ab")
    model = cross_attention.PairModel(charset, ["ab"])
    together = model.score(charset.encode_batch(["ab", "a"]))[1]
    alone = [model.score(charset.encode_batch([word]))[1] for word in ("ab", "a")]

    assert together == pytest.approx((3 * alone[0] + 2 * alone[1]) / 5)


def test_ablations_replace_what_they_say() -> None:
    features = torch.rand(3, 4, 5, generator=torch.Generator().manual_seed(0))
    given = cross_attention.ablations(features)

    assert given[cross_attention.INTACT] is features
    assert not given[cross_attention.ZEROS].any()
    assert given[cross_attention.OTHER][1].equal(features[0])
    torch.testing.assert_close(given[cross_attention.MEAN][2], features.mean(0))


def test_another_image_is_read_as_that_image(weights: WeightsFile) -> None:
    generator = torch.Generator().manual_seed(0)
    features = torch.randn(3, 32, 32, generator=generator)
    written = weights.recognizer.decoder.generate(features).labels
    texts = [weights.charset.decode(ids) for ids in written.tolist()]
    labels = weights.charset.encode_batch([text or "x" for text in texts])
    rows = {
        str(row["features"]): row
        for row in cross_attention.measure(weights, features, labels, seed=0)
    }

    if all(texts):
        assert rows[cross_attention.INTACT]["free_cer"] == 0
        assert rows[cross_attention.OTHER]["cer_to_other"] == 0
    assert rows[cross_attention.OTHER]["cer_to_other"] == rows[cross_attention.INTACT]["free_cer"]
    assert rows == {
        str(row["features"]): row for row in cross_attention.measure(weights, features, labels, 0)
    }


def test_the_verdict_follows_the_errors() -> None:
    assert cross_attention.judge(0.7, 0.6, 2.8, 2.8) is Verdict.SUPPORTED
    assert cross_attention.judge(0.7, 0.6, 1.0, 2.8) is Verdict.PARTLY
    assert cross_attention.judge(0.2, 0.1, 2.8, 2.8) is Verdict.PARTLY
    assert cross_attention.judge(0.2, -0.1, 2.8, 2.8) is Verdict.NOT_SUPPORTED
    assert cross_attention.judge(0.01, 0.005, 0.2, 2.8) is Verdict.NOT_SUPPORTED
