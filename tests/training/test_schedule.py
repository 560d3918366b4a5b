import pytest

from vit_str.training.schedule import WarmupStableDecay


def test_up_along_and_down():
    schedule = WarmupStableDecay(warmup_steps=9, decay_share=0.25)
    assert schedule.factor(0, 0.0) == pytest.approx(0.1)
    assert schedule.factor(4, 0.01) == pytest.approx(0.5)
    assert schedule.factor(9, 0.1) == 1
    assert schedule.factor(500, 0.75) == 1
    assert schedule.factor(600, 0.875) == pytest.approx(0.5)
    assert schedule.factor(700, 1.0) == 0


def test_more_time_takes_a_decay_back():
    schedule = WarmupStableDecay(decay_share=0.5)
    assert schedule.factor(1000, 0.9) < 1
    assert schedule.factor(1000, 0.4) == 1


def test_a_decay_needs_a_share_of_the_run():
    with pytest.raises(ValueError, match="decay_share"):
        WarmupStableDecay(decay_share=0)
