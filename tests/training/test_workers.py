"""Lines drawn by worker processes: the same batches, and processes that end with the run."""

import os
import signal
from itertools import islice
from multiprocessing import active_children
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from vit_str.characters.charset import charset_of
from vit_str.synthesis.old_print import OldPrint
from vit_str.synthesis.renderer import RenderedBatch
from vit_str.training.data import RenderedLines, RenderedStream, RenderedWords
from vit_str.training.module import RecognizerTraining
from vit_str.training.workers import loaded_batches

pytestmark = pytest.mark.filterwarnings("default")

SIZE = 2
PART_OF_A_BATCH = ("images", "labels", "token_characters", "boxes")
WORKERS = "--data.init_args.workers=2"


@pytest.fixture
def lines(two_fonts, monkeypatch) -> RenderedLines:
    """Lines that become harder from batch to batch, half of them old print."""
    monkeypatch.setenv("VIT_STR_CACHE", str(two_fonts.parent))
    data = RenderedLines(
        SIZE,
        charset_of("european").characters,
        fonts=[two_fonts],
        old_print=OldPrint(0.5, "de"),
        easy_images=20,
    )
    data.setup("fit")
    return data


def stream(
    data: RenderedWords, workers: int, batches: int = 0, rank: int = 0, world: int = 1
) -> RenderedStream:
    """The share of a device, after so many batches of all of them."""
    data.workers = workers
    seen = SimpleNamespace(images_seen=batches * data.batch_size)
    trainer: Any = SimpleNamespace(
        strategy=SimpleNamespace(root_device=torch.device("cpu")),
        world_size=world,
        global_rank=rank,
        lightning_module=SimpleNamespace(count=seen),
    )
    data.trainer = trainer
    return data.train_dataloader()


def taken(stream: RenderedStream, count: int) -> list[RenderedBatch]:
    return list(islice(stream, count))


def assert_same(found: list[RenderedBatch], expected: list[RenderedBatch]) -> None:
    for ours, theirs in zip(found, expected, strict=True):
        for name in PART_OF_A_BATCH:
            assert torch.equal(getattr(ours, name), getattr(theirs, name)), name


def test_workers_draw_the_batches_that_the_device_draws(lines):
    """And the random numbers of training are left alone."""
    alone = taken(stream(lines, 0), 7)
    before = torch.get_rng_state()
    helped = taken(stream(lines, 2), 7)
    assert_same(helped, alone)
    assert torch.equal(torch.get_rng_state(), before)
    assert len({batch.images.float().mean().item() for batch in alone}) == 7
    assert not active_children()


def test_workers_resume_at_any_batch(lines):
    whole = taken(stream(lines, 0), 7)
    assert_same(taken(stream(lines, 2, batches=3), 4), whole[3:])


def test_workers_of_several_devices_share_one_stream(lines):
    whole = taken(stream(lines, 0), 6)
    for rank in range(2):
        share = taken(stream(lines, 2, rank=rank, world=2), 3)
        assert_same(share, whole[rank::2])


def test_what_workers_draw_is_moved_to_the_device_that_trains(lines):
    """To one without memory, which has shapes only."""
    stream(lines, 1)
    lines.trainer.strategy.root_device = torch.device("meta")
    elsewhere = lines.train_dataloader()
    assert elsewhere.renderer.device.type == "cpu"
    (moved,) = taken(elsewhere, 1)
    (here,) = taken(stream(lines, 0), 1)
    for name in PART_OF_A_BATCH:
        part = getattr(moved, name)
        assert part.device.type == "meta"
        assert part.shape == getattr(here, name).shape


class Worker:
    """What a worker does when it is asked to stop, its threads, and its process."""

    def __getitem__(self, number: int) -> list[str]:
        handlers = [
            signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)
        ]
        return [*map(str, handlers), str(torch.get_num_threads()), str(os.getpid())]


def test_a_worker_leaves_ctrl_c_to_the_trainer_and_takes_one_thread():
    (worker,) = islice(loaded_batches(Worker(), [7], workers=1, pinned=False), 1)
    assert worker[:3] == [str(signal.SIG_IGN)] * 2 + ["1"]
    assert worker[3] != str(os.getpid())


def test_fewer_than_no_workers_are_refused(two_fonts):
    with pytest.raises(ValueError, match="workers must be 0 or more, found -1"):
        RenderedLines(workers=-1, fonts=[two_fonts])


def test_a_run_that_is_cut_is_the_same_with_workers(uncut, run, monkeypatch):
    """Its place in the stream is that of what was trained on; no process is left behind."""
    step = RecognizerTraining.training_step
    helpers = []

    def cut_at_the_fourth(self: RecognizerTraining, *batch: Any) -> torch.Tensor:
        helpers.append(len(active_children()))
        if self.trainer.fit_loop.total_batch_idx == 3 and not self.resumed_at:
            signal.raise_signal(signal.SIGTERM)
        return step(self, *batch)

    monkeypatch.setattr(RecognizerTraining, "training_step", cut_at_the_fourth)
    folder = run("helped", WORKERS, code=130)
    assert not active_children()
    run("helped", WORKERS)
    assert helpers == [2] * 6
    assert not active_children()
    found = torch.load(folder / "last.ckpt", weights_only=True)
    expected = torch.load(uncut / "last.ckpt", weights_only=True)
    assert found["RenderedWords"] == expected["RenderedWords"]
    for name, value in expected["state_dict"].items():
        assert torch.equal(found["state_dict"][name], value), name


class BrokenError(Exception):
    """What the test raises."""


def test_workers_end_with_a_run_that_fails(run, monkeypatch):
    def fail(self: RecognizerTraining, *_: Any) -> None:
        assert len(active_children()) == 2
        raise BrokenError

    monkeypatch.setattr(RecognizerTraining, "training_step", fail)
    with pytest.raises(BrokenError):
        run("fails", WORKERS)
    assert not active_children()
