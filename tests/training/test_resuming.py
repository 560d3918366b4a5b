"""Checkpoints are whole, fit the run, and let it begin with a whole step."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from vit_str.charset import Charset
from vit_str.training.resuming import (
    AtomicFiles,
    CannotStart,
    align_batches,
    check_charset,
    check_together,
)


def test_a_checkpoint_replaces_the_one_before_only_when_it_is_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "new folder" / "last.ckpt"
    files = AtomicFiles()
    files.save_checkpoint({"step": 1}, path)

    def full_disk(_: object, file: Path) -> None:
        file.write_bytes(b"half of it")
        raise OSError("no space left")

    with monkeypatch.context() as patch:
        patch.setattr(torch, "save", full_disk)
        with pytest.raises(OSError, match="no space left"):
            files.save_checkpoint({"step": 2}, path)
    assert torch.load(path, weights_only=True) == {"step": 1}
    files.save_checkpoint({"step": 3}, path)
    assert files.load_checkpoint(path, weights_only=True) == {"step": 3}
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("characters", ["ab", "abcd", "acb"])
def test_checkpoints_of_another_charset_are_refused(characters: str) -> None:
    check_charset(Charset("abc"), {})  # from before it was kept
    check_charset(Charset("abc"), {"charset": "abc"})
    with pytest.raises(CannotStart, match="start from the weights file of that run"):
        check_charset(Charset("abc"), {"charset": characters})


def test_processes_that_go_on_from_different_places_do_not_start() -> None:
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
