"""Checkpoints fit the run, and let it begin with a whole step."""

from types import SimpleNamespace
from typing import Any

import pytest

from vit_str.runtime.charset import Charset
from vit_str.training.checkpoints import CannotStart
from vit_str.training.resuming import align_batches, check_charset, check_together


@pytest.mark.parametrize("characters", ["ab", "abcd", "acb"])
def test_checkpoints_of_another_charset_are_refused(characters: str) -> None:
    check_charset(Charset("abc"), {"charset": "abc"})
    with pytest.raises(CannotStart, match="start from the weights file of that run"):
        check_charset(Charset("abc"), {"charset": characters})


def test_processes_that_resume_from_different_places_do_not_start() -> None:
    def trainer(first: int) -> Any:
        strategy = SimpleNamespace(
            broadcast=lambda _: first, reduce_boolean_decision=lambda same, **_: same
        )
        return SimpleNamespace(strategy=strategy)

    check_together(trainer(640), 640)
    with pytest.raises(CannotStart, match=r"the first, which is after 640 images.* after 0;"):
        check_together(trainer(640), 0)


def counters(ready: int, completed: int) -> dict[str, Any]:
    count = {"ready": ready, "started": ready, "processed": ready, "completed": completed}
    return {"fit_loop": {"epoch_loop.batch_progress": {"total": dict(count), "current": count}}}


@pytest.mark.parametrize(
    ("ready", "completed", "unfinished", "accumulate", "expected"),
    [
        (12, 11, 0, 4, (12, 11)),
        (14, 13, 2, 4, (12, 12)),
        (13, 12, 0, 4, (12, 11)),
        (3, 2, 0, 4, (0, -1)),
        (7, 6, 1, 4, (4, 4)),
    ],
    ids=["at a step", "within a step", "more in a step now", "fewer than one", "both"],
)
def test_a_leg_begins_with_a_whole_step(
    ready: int, completed: int, unfinished: int, accumulate: int, expected: tuple[int, int]
) -> None:
    saved = {"loops": counters(ready, completed), "unfinished_batches": unfinished}
    align_batches(saved, accumulate)
    progress = saved["loops"]["fit_loop"]["epoch_loop.batch_progress"]  # type: ignore[index]
    for count in progress.values():
        assert (count["ready"], count["completed"]) == expected
        assert count["started"] == count["processed"] == expected[0]
