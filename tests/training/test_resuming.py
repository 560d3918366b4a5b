"""Checkpoints fit the run, and let it begin with a whole step."""

from types import SimpleNamespace

import pytest

from vit_str.training.checkpoints import CannotStart
from vit_str.training.resuming import check_together


def test_processes_that_resume_from_different_places_do_not_start():
    def trainer(first):
        strategy = SimpleNamespace(
            broadcast=lambda _: first, reduce_boolean_decision=lambda same, **_: same
        )
        return SimpleNamespace(strategy=strategy)

    check_together(trainer(640), 640)
    with pytest.raises(
        CannotStart, match=r"the first, which is after 640 images.* after 0;"
    ):
        check_together(trainer(640), 0)
