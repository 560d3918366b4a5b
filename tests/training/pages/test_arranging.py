"""Training of the network that arranges pages: examples, losses, the command."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
import yaml

from vit_str.datasets.page_records import ABOUT, PageRecord, write_shard
from vit_str.models.arranger import RELATIONS, Arrangement, PageArranger
from vit_str.pages.arrange.features import feature_count
from vit_str.torch_runtime.network_files import ARRANGER
from vit_str.training.cli import main
from vit_str.training.pages.data import PageBatches, parted
from vit_str.training.pages.examples import Batch, batch_of, example_of
from vit_str.training.pages.losses import (
    counts_of,
    losses_of,
    true_relations,
    true_roles,
)
from vit_str.training.pages.module import ArrangerTraining
from vit_str.training.pages.noise import noisy

CONFIG = Path(__file__).parents[3] / "configs" / "arrange.yaml"
ROLES = 14
HEADING, CELL = 1, 3


def record(number: int = 0) -> PageRecord:
    """A heading, two lines of a paragraph, a table of two rows and three columns, and junk."""
    rows = [("Big title", 20, 0, 2.0)] + [
        (f"some words of line {n}", 60 + 20 * n, 1, 1.0) for n in range(2)
    ]
    words, corners, sizes, weights, block = [], [], [], [], []

    def add(
        text: str, x: float, y: float, own: int, weight: float, size: float
    ) -> None:
        words.append(text)
        wide = 0.6 * size * len(text)
        corners.append([(x, y), (x + wide, y), (x + wide, y + size), (x, y + size)])
        sizes.append(size)
        weights.append(weight)
        block.append(own)

    for text, y, own, weight in rows:
        x = 10.0
        for word in text.split():
            add(word, x, y, own, weight, 24.0 if own == 0 else 14.0)
            x += 0.6 * (24 if own == 0 else 14) * (len(word) + 0.6)
    cells = [(0, 0, 1, 2), (0, 2, 1, 1), (1, 0, 1, 1), (1, 1, 1, 1), (1, 2, 1, 1)]
    for place, (row, column, _, _) in enumerate(cells):
        add(
            f"c{row}{column}",
            10.0 + 150 * column,
            200.0 + 20 * row,
            2 + place,
            1.0,
            14.0,
        )
    blocks = [[HEADING, 1, -1, -1, -1, 1, 1], [0, 0, -1, -1, -1, 1, 1]]
    blocks += [[CELL, 0, 0, *cell] for cell in cells]
    count = len(words)
    add("~", 300, 400, -1, 1.0, 14.0)
    none = np.zeros((0, 6), "f4")
    return PageRecord(
        family="letter",
        way="scan",
        number=number,
        width=500,
        height=500,
        words=words,
        polygons=np.array(corners, "f4"),
        sizes=np.array(sizes, "f4"),
        weights=np.array(weights, "f4"),
        confidences=np.ones(count + 1, "f4"),
        word_block=np.array(block, "i4"),
        word_place=np.array([*range(count), -1], "i4"),
        blocks=np.array(blocks, "i4"),
        rules=np.array([[5, 190, 400, 190]], "f4"),
        grounds=none[:, :5],
        pictures=none[:, :4],
        checks=none,
    )


def batch() -> Batch:
    random = np.random.default_rng(0)
    examples = [example_of(record(n), random, is_training=False) for n in range(3)]
    return batch_of(examples, "pages")


def perfect(batch: Batch) -> Arrangement:
    """What is right, as logits."""
    roles = torch.nn.functional.one_hot(true_roles(batch, ROLES), ROLES) * 40.0
    levels = torch.nn.functional.one_hot(batch.about[..., 1].clamp(1, 4) - 1, 4) * 40.0
    relations = torch.zeros(
        *batch.mask.shape[:1], len(RELATIONS), *[batch.mask.shape[1]] * 2
    )
    for name, (truth, _) in true_relations(batch).items():
        relations[:, RELATIONS.index(name)] = truth * 40.0 - 20.0
    place = torch.where(batch.place < 0, 10**6, batch.place)
    later = (place.unsqueeze(1) - place.unsqueeze(2)).float()
    relations[:, 0] = torch.where(later > 0, 60 - 20 * later, -60.0)
    ends = torch.where(batch.place == batch.place.max(), 90.0, -90.0)
    return Arrangement(roles, levels, relations, ends)


def test_pieces_know_what_they_are():
    example = example_of(record(), np.random.default_rng(0), is_training=False)
    assert example.tokens.pieces == 1 + 2 + 5 + 1
    assert sorted(example.block.tolist()) == [-1, 0, 1, 1, 2, 3, 4, 5, 6]
    assert (example.about[example.block == 0, 0] == HEADING).all()
    first, second = sorted(example.place[example.block == 1])
    assert second - first == 5  # words of the first line


def test_what_is_right_costs_nothing_and_counts_fully():
    pages = batch()
    losses = losses_of(perfect(pages), pages)
    assert all(float(value) < 1e-3 for value in losses.values()), losses
    for name, (right, of) in counts_of(perfect(pages), pages).items():
        assert right == of > 0, name


def test_a_spanning_cell_shares_all_columns_that_it_covers():
    pages = batch()
    truth, where = true_relations(pages)["column"]
    about = pages.about[0]
    wide = next(k for k, a in enumerate(about.tolist()) if a[2] == 0 and a[6] == 2)
    shares = (truth & where)[0, wide]
    assert sorted(about[shares][:, 4].tolist()) == [0, 1]


def test_what_is_no_text_has_no_order_and_no_block():
    pages = batch()
    junk = (pages.block < 0) & pages.is_piece
    assert int(junk.sum()) == 3
    for truth, where in true_relations(pages).values():
        assert not where[junk].any()
        assert not where.mT[junk].any()
        assert truth.shape == where.shape
    assert (true_roles(pages, ROLES)[junk] == ROLES - 1).all()


def test_noise_moves_drawn_words_a_little_and_keeps_what_they_are():
    page = replace(record(), way="drawn")
    moved = noisy(page, np.random.default_rng(3))
    assert moved.words[: len(page.words) - 1] == page.words[:-1]
    apart = np.abs(moved.polygons.mean(1)[:5] - page.polygons.mean(1)[:5]).max(1)
    assert (apart > 0).all()
    assert (apart < 6).all()
    assert np.array_equal(moved.word_block[:5], page.word_block[:5])
    read = record()
    assert noisy(read, np.random.default_rng(3)).polygons is read.polygons


def test_batches_are_of_one_length_and_no_more_than_asked_for(tmp_path):
    write_shard(tmp_path, 0, [record(n) for n in range(12)])
    stream = iter(PageBatches([tmp_path], pairs=300, longest=50, seed=1))
    for _ in range(6):
        found = next(stream)
        assert found.mask.shape[0] * found.mask.shape[1] ** 2 <= 300
    examples = [example_of(record(), np.random.default_rng(0), is_training=False)]
    assert list(parted(examples, 300, longest=5)) == []


def test_a_run_that_goes_on_sees_other_pages_first(tmp_path):
    write_shard(tmp_path, 0, [record(n) for n in range(12)])
    batches = [
        next(iter(PageBatches([tmp_path], 10**6, 200, seed=1, seen=seen)))
        for seen in (0, 0, 24)
    ]
    places = [batch.places for batch in batches]
    assert torch.equal(places[0], places[1])
    assert not torch.equal(places[0], places[2])


def test_the_configuration_fits_the_features():
    arguments = yaml.safe_load(CONFIG.read_text())["model"]["arranger"]["init_args"]
    assert arguments["features"] == feature_count()
    assert arguments["roles"] == ROLES


@pytest.mark.filterwarnings("default")
def test_it_trains_and_resumes(tmp_path, monkeypatch):
    monkeypatch.setattr("sys.argv", ["vit-str"])
    monkeypatch.chdir(tmp_path)
    write_shard(tmp_path / "pages", 0, [record(n) for n in range(30)])
    names = [f"role {n}" for n in range(ROLES - 1)]
    (tmp_path / "pages" / ABOUT).write_text(f'{{"roles": {names}}}'.replace("'", '"'))
    arguments = ["--config", str(CONFIG), "--trainer.accelerator", "cpu"]
    arguments += ["--data.folders", "[pages]", "--data.validation", "[pages]"]
    arguments += ["--data.workers", "0", "--data.pairs", "2000"]
    arguments += [
        "--model.arranger.init_args.dim",
        "32",
        "--model.schedule.init_args.warmup_steps",
        "2",
    ]
    arguments += ["--trainer.val_check_interval", "30", "--model.averaging", "0.8"]
    assert main([*arguments, "--trainer.max_steps", "30"]) == 0
    weights = Path("runs/arrange/arranger.safetensors")
    scores = ARRANGER.load(weights).provenance["scores"]
    assert scores["pages/roles"] > 0.6
    assert main([*arguments, "--trainer.max_steps", "31"]) == 0
    assert ARRANGER.load(weights).provenance["step"] == 31
    start = ["--model.init", str(weights), "--folder", "runs/again"]
    steps = ["--trainer.max_steps", "1", "--trainer.val_check_interval", "1"]
    assert main([*arguments, *start, *steps]) == 0
    again = ARRANGER.load(Path("runs/again/arranger.safetensors"))
    assert again.provenance["scores"]["pages/roles"] > 0.6


def test_weights_of_another_size_start_nothing(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    small = PageArranger(feature_count(), ROLES, dim=16, depth=1, heads=1)
    ARRANGER.save(Path("small.safetensors"), small, ["a"] * ROLES, {})
    write_shard(tmp_path / "pages", 0, [record()])
    arguments = ["--config", str(CONFIG), "--data.folders", "[pages]"]
    with pytest.raises(SystemExit) as stopped:
        main([*arguments, "--model.init", "small.safetensors"])
    assert stopped.value.code == 2
    assert "another size" in capsys.readouterr().err


def test_a_deeper_network_begins_with_what_its_weights_say(tmp_path):
    given = PageArranger(feature_count(), ROLES, dim=16, depth=2, heads=1)
    ARRANGER.save(tmp_path / "given.safetensors", given, ["a"] * ROLES, {})
    deeper = PageArranger(feature_count(), ROLES, dim=16, depth=4, heads=1)
    ArrangerTraining(deeper, init=tmp_path / "given.safetensors")
    batch = batch_of(
        [example_of(record(), np.random.default_rng(0), is_training=False)]
    )
    inputs = batch.features, batch.places, batch.ngrams, batch.mask
    torch.testing.assert_close(deeper(*inputs), given(*inputs))
    assert torch.equal(deeper.blocks[3].to_bias.weight, given.blocks[1].to_bias.weight)


def test_pages_that_are_drawn_meanwhile_are_seen(tmp_path):
    folder = tmp_path / "pages"
    write_shard(folder, 0, [record(n) for n in range(3)])
    batches = iter(PageBatches([folder], pairs=10**6, longest=200, seed=1))
    assert len(next(batches).mask) == 3
    write_shard(folder, 1, [record(n) for n in range(4)])
    assert len(next(batches).mask) == 7
