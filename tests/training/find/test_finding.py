"""Training of the network that finds: true maps, noise, losses, the command."""

from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest
import torch
import yaml
from PIL import Image
from torch.nn.functional import pad

from vit_str.cli import main as vit_str
from vit_str.datasets.picture_records import (
    PictureRecord,
    PictureShard,
    shard_of,
    write_picture_shard,
)
from vit_str.models.finder import CELL, Finder
from vit_str.pages.find.lines import find_lines
from vit_str.pages.find.maps import MAPS, SHARES, to_height
from vit_str.synthesis.places import Places, corners_of, no_places, upright_strips
from vit_str.synthesis.scenes import Scenery
from vit_str.torch_runtime.network_files import FINDER
from vit_str.training.cli import main
from vit_str.training.find.data import DrawnPictures, ExampleBatches
from vit_str.training.find.examples import Batch, Examples, batch_of, places_of
from vit_str.training.find.losses import counts_of, losses_of
from vit_str.training.find.module import FinderTraining
from vit_str.training.find.noise import Noise, laid, seen, worn
from vit_str.training.find.truth import true_maps

CONFIG = Path(__file__).parents[3] / "configs" / "find.yaml"
SIDE = 128
_STEPS = 200
COS, SIN, HEIGHT = (MAPS.index(name) for name in ("cos", "sin", "height"))


def record() -> PictureRecord:
    """Two lines of black boxes for words, a rule below, a ticked box, a picture."""
    boxes = [(10, 20, 40, 32), (46, 20, 90, 32), (10, 50, 60, 62)]
    pixels = np.full((120, 140, 3), 255, np.uint8)
    for left, top, right, bottom in boxes:
        pixels[top + 2 : bottom - 2, left:right] = 0
    pixels[80:82, 10:110] = 0
    return PictureRecord(
        image=Image.fromarray(pixels),
        family="letter",
        number=3,
        boxes=np.array(boxes, np.float32),
        sizes=np.full(3, 12, np.float32),
        turns=np.zeros(3, np.int32),
        lines=np.array([4, 4, 7], np.int32),
        rules=np.array([[10, 81, 110, 81, 2]], np.float32),
        pictures=np.array([[100, 90, 130, 110]], np.float32),
        checks=np.array([[100, 20, 112, 32, 1]], np.float32),
    )


def shard(*records: PictureRecord) -> PictureShard:
    return PictureShard(shard_of(records), "drawn")


def cells(maps: np.ndarray, name: str, x: float, y: float) -> float:
    return float(maps[MAPS.index(name), int(y // CELL), int(x // CELL)])


def test_maps_say_what_is_where():
    maps, weight = true_maps(places_of(record()), (120, 140))
    assert maps.shape == (len(MAPS), 30, 35)
    assert cells(maps, "ink", 26, 26) > 0.5 and cells(maps, "ink", 43, 26) > 0.5
    assert cells(maps, "gap", 43, 26) > 0.5
    assert cells(maps, "gap", 26, 26) == cells(maps, "gap", 34, 56) == 0
    assert cells(maps, "ink", 26, 40) == cells(maps, "ink", 95, 26) == 0
    assert cells(maps, "across", 60, 81) > 0.4 and maps[MAPS.index("down")].max() == 0
    assert cells(maps, "box", 106, 26) == cells(maps, "ticked", 106, 26) == 1
    assert cells(maps, "picture", 115, 100) == 1
    assert (weight == 1).all()
    ink = maps[0] > 0.5
    assert np.allclose(maps[COS][ink], 1) and np.allclose(maps[SIN][ink], 0)
    assert np.allclose(to_height(maps[HEIGHT][ink]), 12, atol=0.01)


def test_cores_of_close_lines_stay_apart_and_are_shorter_than_the_lines():
    boxes = np.array([[8, 8, 100, 20], [8, 20, 100, 32]], np.float32)
    strips = upright_strips(boxes, np.full(2, 12.0), np.zeros(2, np.int32))
    places = replace(no_places(), strips=strips, lines=np.arange(2, dtype=np.int32))
    ink = true_maps(places, (40, 120)).maps[0]
    assert ink[20 // CELL, 12] < 0.5 < ink[14 // CELL, 12]
    assert ink[3, 2] < 0.8 and ink[3, 3] == 1


@pytest.mark.parametrize(("turn", "cosine", "sine"), [(90, 0, 1), (180, -1, 0)])
def test_directions_are_those_of_reading(turn, cosine, sine):
    boxes = np.array([[20, 20, 100, 100]], np.float32)
    strips = upright_strips(boxes, np.array([16.0]), np.array([turn]))
    places = replace(no_places(), strips=strips, lines=np.zeros(1, np.int32))
    maps = true_maps(places, (SIDE, SIDE)).maps
    ink = maps[0] > 0.5
    assert np.allclose(maps[COS][ink], cosine, atol=1e-6)
    assert np.allclose(maps[SIN][ink], sine, atol=1e-6)
    rows, columns = np.nonzero(ink)
    assert (np.ptp(rows) > np.ptp(columns)) == bool(sine)


def test_what_is_too_small_or_cut_does_not_count():
    small = replace(record(), sizes=np.array([5, 5, 12], np.float32))
    maps, weight = true_maps(places_of(small), (120, 140))
    assert weight[26 // CELL, 26 // CELL] < 0.6 and weight[56 // CELL, 34 // CELL] == 1
    assert cells(maps, "ink", 26, 26) == 0 < cells(maps, "ink", 34, 56)
    cut = replace(record(), image=record().image.crop((0, 26, 140, 120)))
    cut = replace(cut, boxes=record().boxes - (0, 26, 0, 26))
    places = places_of(cut)
    assert len(places.strips) == 1 and len(places.unclear) == 2


def test_a_word_that_the_edge_cuts_ends_there():
    cut = replace(record(), image=record().image.crop((0, 0, 70, 120)))
    places = places_of(cut)
    assert len(places.strips) == 3
    assert places.strips[1, :, :, 0].max() == 70


def test_what_is_seen_in_another_way_is_still_where_its_places_say():
    picture, places = record(), places_of(record())
    for seed in range(12):
        random = np.random.default_rng(seed)
        pixels = np.asarray(picture.image)
        image, moved = seen(random, pixels, places, SIDE, Noise(perspective=0.1))
        assert image.shape == (SIDE, SIDE, 3)
        for strip in moved.strips:
            middle = strip.mean((0, 1))
            if (middle > 4).all() and (middle < SIDE - 4).all():
                x, y = middle.astype(int)
                assert image[y, x].max() < 130, (seed, middle)
    assert worn(random, image, Noise()).shape == image.shape


def test_a_page_on_a_table_is_where_its_places_say():
    picture, places = record(), places_of(record())
    count = 0
    for seed in range(12):
        random = np.random.default_rng(seed)
        pixels = np.asarray(picture.image)
        image, moved = laid(random, pixels, places, SIDE, Noise())
        assert image.shape == (SIDE, SIDE, 3)
        again, _ = laid(np.random.default_rng(seed), pixels, places, SIDE, Noise())
        assert np.array_equal(image, again)
        for strip in moved.strips:
            middle = strip.mean((0, 1))
            if (middle > 4).all() and (middle < SIDE - 4).all():
                x, y = middle.astype(int)
                assert image[y, x].max() < 130, (seed, middle)
                count += 1
    assert count > 12


def test_slips_are_aged_and_laid_down_more_often_than_other_pages():
    noise = Noise(
        aged_share=0.0,
        printed_share=0.0,
        separated_share=0.0,
        ruled_share=0.0,
        laid_share=0.25,
        slip_times=4.0,
    )
    slip = replace(record(), family="till slip")
    pixels = np.asarray(slip.image)
    for seed in range(4):
        examples = Examples([shard(slip)], None, 0.0, SIDE, noise)
        found = examples._page_seen(np.random.default_rng(seed), slip)
        random = np.random.default_rng(seed)
        random.random(5)
        expected, _ = laid(random, pixels, places_of(slip), SIDE, noise)
        assert np.array_equal(found[0], expected)


def test_slips_are_as_many_as_asked_for():
    slip = replace(record(), family="till slip")
    pages = [shard(*[record()] * 9, slip), shard(slip, *[record()] * 9)]
    families = [each.family for page in pages for each in page]
    examples = Examples(pages, None, 0.0, SIDE, Noise(slip_share=0.5))
    random = np.random.default_rng(1)
    chosen = [families[examples._chosen(random)] for _ in range(400)]
    assert chosen.count("till slip") / 400 == pytest.approx(0.55, abs=0.08)


def test_lone_digits_count_for_more():
    digit = replace(
        record(),
        boxes=np.array([(10, 20, 16, 32), (46, 50, 90, 62)], np.float32),
        sizes=np.full(2, 12, np.float32),
        turns=np.zeros(2, np.int32),
        lines=np.array([4, 7], np.int32),
    )
    weight = true_maps(places_of(digit), (120, 140)).weight
    assert weight[26 // CELL, 13 // CELL] > 2
    assert weight[56 // CELL, 70 // CELL] == 1


@pytest.mark.parametrize("x", range(20, 24))
@pytest.mark.parametrize("y", range(20, 24))
def test_a_narrow_digit_has_a_core_wherever_it_lies(x, y):
    digit = replace(
        record(),
        boxes=np.array([(x, y, x + 3, y + 8)], np.float32),
        sizes=np.full(1, 8, np.float32),
        turns=np.zeros(1, np.int32),
        lines=np.zeros(1, np.int32),
    )
    ink = true_maps(places_of(digit), (120, 140)).maps[MAPS.index("ink")]
    assert 0.5 < ink.max() <= 1
    assert (ink > 0).sum() <= 9


STILL = Noise(
    scales=(1.0, 1.001),
    strong_share=0.0,
    turned_share=0.0,
    aged_share=0.0,
    printed_share=0.0,
    separated_share=0.0,
    ruled_share=0.0,
    stretched_share=0.0,
    laid_share=0.0,
    threshold_share=0.0,
)


def examples() -> Examples:
    return Examples([shard(record())], None, 0.0, SIDE, Noise())


def batch() -> Batch:
    made = [
        Examples([shard(record())], None, 0.0, SIDE, STILL).make(k) for k in range(3)
    ]
    return batch_of(made, "pages")


def test_the_stream_goes_on_where_it_was_left():
    stream = iter(ExampleBatches(examples(), 2, seed=5))
    three = [next(stream) for _ in range(3)]
    later = next(iter(ExampleBatches(examples(), 2, seed=5, first=2)))
    assert torch.equal(three[2].images, later.images)
    assert torch.equal(three[2].maps, later.maps)
    assert not torch.equal(three[1].images, later.images)


def test_a_process_that_prepares_batches_has_one_thread():
    before = cv2.getNumThreads()
    try:
        cv2.setNumThreads(4)
        next(iter(ExampleBatches(examples(), 1, seed=5)))
        assert cv2.getNumThreads() == 1
    finally:
        cv2.setNumThreads(before)


def test_what_is_right_costs_little_and_counts_fully():
    pictures = batch()
    truth = pictures.maps.clone()
    truth[:, :SHARES] = ((truth[:, :SHARES] > 0.5).float() * 2 - 1) * 20
    sharp = pictures._replace(maps=pictures.maps.clone())
    sharp.maps[:, :SHARES] = (sharp.maps[:, :SHARES] > 0.5).float()
    right = losses_of(truth, sharp)
    assert all(float(value) < 0.02 for value in right.values()), right
    wrong = losses_of(torch.zeros_like(truth), sharp)
    assert all(float(wrong[name]) > 0.3 for name in ("ink", "gap", "direction"))
    counts = counts_of(truth, sharp)
    assert counts.pop("height_error")[0] == 0
    assert all(hits == of for hits, of in counts.values())
    assert counts["ink"][1] > 0 and counts["direction"][1] > 0


def test_words_are_found_after_a_few_steps():
    torch.manual_seed(0)
    finder = Finder(len(MAPS), [16, 24, 32, 32], [1, 1, 1, 1], back=[16, 24, 32, 32])
    examples = Examples([shard(record())], None, 0.0, SIDE, STILL)
    optimizer = torch.optim.AdamW(finder.parameters(), lr=4e-3)
    first = last = 0.0
    for step in range(_STEPS):
        batch = batch_of([examples.make(1, step, place) for place in range(2)])
        loss = torch.stack([*losses_of(finder(batch.images / 255), batch).values()])
        optimizer.zero_grad()
        loss.sum().backward()
        optimizer.step()
        last = float(loss.detach().sum())
        first = first or last
    assert last < first / 2
    finder.eval()
    fresh = batch_of([examples.make(2, place) for place in range(8)], "pages")
    with torch.no_grad():
        counts = counts_of(finder(fresh.images / 255), fresh)
        hits, of = counts["ink"]
        assert hits / of > 0.6  # processors differ
        image = torch.from_numpy(np.array(record().image)).permute(2, 0, 1) / 255
        image = pad(image, (0, 20, 0, 8), value=1.0)
        maps = finder(image[None])[0]
    maps[:SHARES] = maps[:SHARES].sigmoid()
    found = sorted(find_lines(maps.numpy()), key=lambda line: line.polygon[0, 1])
    assert [len(line.words) for line in found] == [2, 1]
    for line, expected in zip(found, ((10, 20, 90, 32), (10, 50, 60, 62)), strict=True):
        box = (*line.polygon.min(0), *line.polygon.max(0))
        assert np.abs(np.subtract(box, expected)).max() < 8


def test_a_run_begins_with_nothing_anywhere():
    training = FinderTraining(Finder(len(MAPS), [8] * 4, [1] * 4, back=[8] * 4))
    pictures = batch()
    with torch.no_grad():
        losses = losses_of(training.network(pictures.images / 255), pictures)
    assert all(float(value) < 10 for value in losses.values()), losses
    assert torch.equal(training.averaged.to_maps.bias, training.network.to_maps.bias)


def test_a_run_begins_with_given_weights(tmp_path):
    sizes = {"widths": [8] * 4, "depths": [1] * 4, "back": [8] * 4}
    first = Finder(len(MAPS), **sizes)
    FINDER.save(tmp_path / "first.safetensors", first, MAPS, {})
    training = FinderTraining(
        Finder(len(MAPS), **sizes), init=tmp_path / "first.safetensors"
    )
    for name, values in first.state_dict().items():
        assert torch.equal(training.averaged.state_dict()[name], values), name
    with pytest.raises(ValueError, match="of another size"):
        FinderTraining(Finder(len(MAPS)), init=tmp_path / "first.safetensors")


def test_directions_count_all_around_the_circle():
    pictures = batch()
    found = pictures.maps.clone()
    angle = torch.atan2(found[:, SIN], found[:, COS]) + np.deg2rad(350)
    found[:, COS], found[:, SIN] = angle.cos(), angle.sin()
    hits, of = counts_of(found, pictures)["direction"]
    assert hits == of > 0
    found[:, COS:HEIGHT] *= -1
    assert counts_of(found, pictures)["direction"][0] == 0


def test_the_configuration_fits_the_maps():
    arguments = yaml.safe_load(CONFIG.read_text())["model"]["finder"]["init_args"]
    assert arguments["maps"] == len(MAPS)


def test_corners_go_around():
    [corners] = corners_of(np.array([[1.0, 2, 5, 9]]))
    assert corners.tolist() == [[1, 2], [5, 2], [5, 9], [1, 9]]
    assert isinstance(no_places().moved(np.eye(3)), Places)


@pytest.mark.filterwarnings("default")
def test_it_trains_and_resumes_exactly(two_fonts, tmp_path, monkeypatch):
    monkeypatch.setenv("VIT_STR_CACHE", str(two_fonts.parent))
    monkeypatch.setattr("sys.argv", ["vit-str"])
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pages").mkdir()
    write_picture_shard(tmp_path / "pages", 0, [record() for _ in range(3)])
    arguments = ["--config", str(CONFIG), "--trainer.accelerator", "cpu"]
    arguments += ["--trainer.precision", "32-true", "--data.fonts", f"[{two_fonts}]"]
    arguments += ["--data.folders", "[pages]", "--data.validation", "[pages]"]
    arguments += ["--data.workers", "0", "--data.side", "64", "--data.batch_size", "2"]
    arguments += ["--data.charset", "ascii", "--data.language", "en"]
    arguments += ["--data.validation_batches", "1", "--trainer.val_check_interval", "4"]
    arguments += ["--data.scenery.sides", "[64, 96]", "--model.averaging", "0.5"]
    network = (
        "{maps: 10, widths: [8, 8, 8, 8], depths: [1, 1, 1, 1], back: [8, 8, 8, 8]}"
    )
    arguments += ["--model.finder.init_args", network]

    def trained(folder: str, steps: int) -> dict[str, torch.Tensor]:
        given = ["--folder", folder, "--trainer.max_steps", str(steps)]
        assert main([*arguments, *given]) == 0
        file = FINDER.load(Path(folder, "finder.safetensors"))
        assert file.provenance["step"] == steps
        assert {"pages/ink", "scenes/ink"} <= {*file.provenance["scores"]}
        return file.network.state_dict()

    whole = trained("whole", 8)
    trained("parts", 4)
    parts = trained("parts", 8)
    for name, values in whole.items():
        assert torch.equal(values, parts[name]), name


@pytest.mark.filterwarnings("default")
def test_a_kit_draws_the_same_without_fonts_and_pages(two_fonts, tmp_path, monkeypatch):
    monkeypatch.setenv("VIT_STR_CACHE", str(two_fonts.parent))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pages-find").mkdir()
    write_picture_shard(tmp_path / "pages-find", 0, [record() for _ in range(3)])
    settings = yaml.safe_load(CONFIG.read_text())
    settings["data"] |= {"charset": "ascii", "language": "en", "side": 64}
    Path("small.yaml").write_text(yaml.safe_dump(settings))
    command = ["kit", "small.yaml", "--out", "find.kit", "--fonts", str(two_fonts)]
    assert vit_str(command) == 0
    here = {"charset": "ascii", "side": 64, "scenery": Scenery(sides=(64, 96))}
    with_kit = DrawnPictures([], kit=Path("find.kit"), **here)
    without = DrawnPictures([Path("pages-find")], fonts=[two_fonts], **here)
    made = []
    for data in (with_kit, without):
        data.setup("fit")
        examples = data._examples(data._pages, 0.5, held_out=False)
        made.append([examples.make(7, number) for number in range(6)])
    for one, other in zip(*made, strict=True):
        assert np.array_equal(one.image, other.image)
        assert np.array_equal(one.maps, other.maps)


def test_without_pages_it_says_how_to_draw_some(two_fonts, tmp_path, monkeypatch):
    monkeypatch.setenv("VIT_STR_CACHE", str(two_fonts.parent))
    data = DrawnPictures([], fonts=[two_fonts], charset="ascii")
    with pytest.raises(ValueError, match="vit-str render --pages 2000 --find"):
        data.setup("fit")
