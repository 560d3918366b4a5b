"""Several processes train as one does: other words each, the same losses, the same parameters."""

import csv
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from itertools import islice
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from vit_str.synthesis.renderer import Renderer
from vit_str.training.data import RenderedWords

pytestmark = pytest.mark.filterwarnings("default")

# With nothing that depends on where a leg ends.
SAME = [
    "--model.dense_weight",
    "0",
    "--model.schedule.decay_share",
    "0.01",
    "--trainer.limit_val_batches",
    "0",
]
PLAIN = ["--model.recognizer.init_args.decoder.init_args.dropout", "0", *SAME]
TWO_PROCESSES = ["--trainer.devices", "2", "--trainer.strategy", "ddp"]
TWO_BATCHES = ["--trainer.accumulate_grad_batches", "2"]


def part(name: str, **arguments: Any) -> dict[str, Any]:
    """A part of a model as a configuration says it."""
    return {"class_path": f"vit_str.models.{name}", "init_args": arguments}


def recurrent(encoder: dict[str, Any]) -> dict[str, Any]:
    return part(
        "RecurrentEncoder", encoder=encoder, cell="lstm", depth=1, bidirectional=True
    )


# As the configurations of these names, smaller.
MODELS = {
    "crnn_ctc": part(
        "Recognizer",
        encoder=recurrent(
            part(
                "PlainConvolutionalEncoder",
                widths=[8, 8, 8, 8, 32],
                depths=[1, 1, 1, 1, 1],
            )
        ),
        decoder=part("CtcDecoder", dim=32),
    ),
    "conv_attention": part(
        "Recognizer",
        encoder=recurrent(
            part(
                "ConvolutionalEncoder",
                widths=[8, 8, 32],
                depths=[1, 1, 1],
                strides=[[2, 2], [2, 2], [4, 1]],
            )
        ),
        decoder=part("RecurrentDecoder", dim=32, cell="gru", attention="additive"),
    ),
    # Two orders are the same in every process; of more, and of what is dropped, each process
    # draws its own. Without this, the dropout of the configuration would stay.
    "vit_permuted": part(
        "Recognizer",
        encoder=part("VisionTransformer", dim=32, depth=1, heads=2, patch_size=[8, 8]),
        decoder=part("PermutedDecoder", dim=32, heads=2, orders=2, dropout=0),
    ),
}


def losses(folder: Path) -> list[float]:
    """Of every step, from the log of all legs."""
    rows = csv.DictReader((folder / "log" / "metrics.csv").read_text().splitlines())
    by_step = {int(row["step"]): float(row["loss"]) for row in rows if row.get("loss")}
    return [by_step[step] for step in sorted(by_step)]


def checkpoint(folder: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = torch.load(folder / "last.ckpt", weights_only=True)
    return loaded


def train(folder: Path, *arguments: str) -> None:
    """The command line in processes of its own, with the configuration that ``run`` wrote."""
    command = [
        sys.executable,
        "-m",
        "vit_str",
        "train",
        "--config",
        str(folder / "config-in.yaml"),
    ]
    done = subprocess.run(
        [*command, *arguments], capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stderr[-3000:]


@pytest.mark.slow
def test_two_processes_equal_one_and_a_run_resumes_with_either(run):
    one = run("one", *PLAIN, *TWO_BATCHES)
    changing = one.parent / "changing"
    changing.mkdir()
    text = (one / "config-in.yaml").read_text().replace(str(one), str(changing))
    (changing / "config-in.yaml").write_text(text)

    train(changing, *PLAIN, *TWO_PROCESSES, "--trainer.max_steps", "2")
    two_steps = checkpoint(changing)
    assert (two_steps["global_step"], two_steps["images_seen"]) == (2, 16)
    run("changing", *PLAIN, *TWO_BATCHES, "--trainer.max_steps", "4")
    assert checkpoint(changing)["images_seen"] == 32
    train(changing, *PLAIN, *TWO_PROCESSES)

    first = checkpoint(one)
    second = checkpoint(changing)
    assert first["global_step"] == second["global_step"] == 6
    assert first["images_seen"] == second["images_seen"] == 48
    check_same(one, changing, steps=6)


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_two_processes_equal_one_with_other_models(name, run):
    few = [
        "--model.recognizer",
        json.dumps(MODELS[name]),
        *SAME,
        "--trainer.max_steps",
        "3",
    ]
    one = run("one", *few, *TWO_BATCHES)
    two = one.parent / "two"
    two.mkdir()
    text = (one / "config-in.yaml").read_text().replace(str(one), str(two))
    (two / "config-in.yaml").write_text(text)
    train(two, *few, *TWO_PROCESSES)
    assert checkpoint(two)["images_seen"] == 24
    check_same(one, two, steps=3)


def check_same(one: Path, other: Path, steps: int) -> None:
    """The same losses in every step, and the same weights after the last."""
    assert losses(other) == pytest.approx(losses(one), abs=1e-6)
    assert len(losses(one)) == steps
    first = checkpoint(one)["state_dict"]
    second = checkpoint(other)["state_dict"]
    for name, tensor in first.items():
        expected = determined(name, tensor)
        found = determined(name, second[name])
        torch.testing.assert_close(found, expected, rtol=0, atol=1e-6, msg=name)


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.parametrize("seconds", [8, 14, 20])
def test_two_processes_end_together_while_they_start(seconds, run):
    folder = run("one", "--trainer.max_steps", "1")
    command = [
        sys.executable,
        "-m",
        "vit_str",
        "train",
        "--config",
        str(folder / "config-in.yaml"),
    ]
    with subprocess.Popen(
        [*command, *TWO_PROCESSES, "--trainer.max_steps", "100000"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as training:
        try:
            time.sleep(seconds)
            training.terminate()
            assert training.wait(30) in (130, 143, -signal.SIGTERM)
            assert all_end(training.pid)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(training.pid, signal.SIGKILL)


def all_end(group: int) -> bool:
    """Whether no process of a group is left, once the system has taken notice of their ends."""
    for _ in range(100):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.1)
    return False


def determined(name: str, tensor: torch.Tensor) -> torch.Tensor:
    """What a gradient decides: a bias of all keys changes no softmax, so Adam scales up noise."""
    return (
        tensor[len(tensor) // 2 :] if name.endswith("to_keys_values.bias") else tensor
    )


@pytest.fixture
def words(two_fonts, tmp_path, monkeypatch) -> Callable[[int], RenderedWords]:
    monkeypatch.setenv("VIT_STR_CACHE", str(two_fonts.parent))
    few = tmp_path / "words.txt"
    few.write_text("one two three four five six seven eight nine ten eleven twelve")

    def make(batch_size: int) -> RenderedWords:
        data = RenderedWords(
            batch_size=batch_size, words=few, fonts=[two_fonts], easy_images=80
        )
        data.setup("fit")
        return data

    return make


def attach(data: RenderedWords, images: int, world: int, rank: int) -> RenderedWords:
    data.trainer = SimpleNamespace(
        strategy=SimpleNamespace(root_device=torch.device("cpu")),
        world_size=world,
        global_rank=rank,
        lightning_module=SimpleNamespace(count=SimpleNamespace(images_seen=images)),
    )
    return data


@pytest.mark.parametrize("world", [2, 3])
def test_processes_share_one_stream(world, words):
    alone = attach(words(4), 8, 1, 0).train_dataloader()
    whole = [batch.labels.tolist() for batch in islice(alone, 6)]
    shares = []
    for rank in range(world):
        stream = attach(words(4), 8, world, rank).train_dataloader()
        shares.append([batch.labels.tolist() for batch in islice(stream, 6 // world)])
    assert [shares[number % world][number // world] for number in range(6)] == whole
    assert len({str(labels) for labels in whole}) == 6


def test_no_batch_is_drawn_twice_whatever_changes(words, monkeypatch):
    """Legs with other batch sizes and numbers of processes; each saves where it has come to."""
    drawn: list[int] = []
    difficulties: list[float] = []
    expected: list[float] = []

    def record(_, size, seed, index, difficulty):
        drawn.append(index)
        difficulties.append(difficulty)
        return torch.zeros(size)

    monkeypatch.setattr(Renderer, "batch", record)
    images = 0
    place = None
    for batch_size, world, steps in [
        (4, 2, 3),
        (8, 3, 1),
        (2, 1, 4),
        (16, 2, 1),
        (4, 1, 1),
    ]:
        for rank in range(world):
            data = words(batch_size)
            if place is not None:
                data.load_state_dict(place)
            stream = attach(data, images, world, rank).train_dataloader()
            list(islice(stream, steps))
            ends = [
                images + (step * world + rank + 1) * batch_size for step in range(steps)
            ]
            expected += [min(1.0, end / 80) for end in ends]
        images += batch_size * world * steps
        data.trainer.lightning_module.count.images_seen = images
        place = data.state_dict()
        assert place["images"] == images
    assert len(drawn) == len(set(drawn)) == 6 + 3 + 4 + 2 + 1
    assert difficulties == pytest.approx(expected)
    assert min(expected) == 0.05 and max(expected) == 1
