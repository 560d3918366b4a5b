import torch

from studies import Verdict, worked_example


def test_weights_of_the_post() -> None:
    example = worked_example.of_post()
    assert (example.queries.shape, example.keys.shape) == ((3, 3), (4, 3))
    weights = torch.tensor([0.2, 0.1, 0.4, 0.3], dtype=torch.float64)
    expected = weights @ example.values
    by_hand = torch.tensor([2.0, 3.0, 3.3, 4.3, 2.5], dtype=torch.float64)
    assert (expected - by_hand).abs().max() < 1e-14
    assert (worked_example.by_loops(*example)[0] - by_hand).abs().max() < 1e-14
    for compute in worked_example.COMPUTATIONS.values():
        assert (compute(*example)[0] - expected).abs().max() < 1e-14


def test_two_words_by_hand() -> None:
    """Scores of one query that is as near to both keys are halves."""
    queries, keys, values = worked_example.two_words()
    assert queries.tolist() == [[1, 0, 2], [2, 2, 2]]
    found = worked_example.by_loops(torch.zeros_like(queries), keys, values)
    assert (found - values.mean(0)).abs().max() < 1e-15


def test_every_statement_holds() -> None:
    assert all(worked_example.statements().values()), worked_example.statements()


def test_verdicts() -> None:
    assert worked_example.judge(1e-15, {"a": True}) is Verdict.SUPPORTED
    assert worked_example.judge(1e-15, {"a": True, "b": False}) is Verdict.PARTLY
    assert worked_example.judge(1e-9, {"a": True}) is Verdict.PARTLY
    assert worked_example.judge(1e-3, {"a": True}) is Verdict.NOT_SUPPORTED
