"""Own words: an endless stream that depends on seed and number only, and skips what it must."""

import csv
from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from lightning.pytorch import Trainer
from PIL import Image
from safetensors.torch import load_file

from vit_str.characters.charset import Charset
from vit_str.datasets import WRITERS, Layout, Mixture, Rules, open_words
from vit_str.datasets.augmentation import Augmentation
from vit_str.datasets.source import LabeledWord, Reason
from vit_str.engines.weights_contents import resolve
from vit_str.images.loading import load_image
from vit_str.images.preprocessing import TALL, Preprocessing
from vit_str.torch_runtime.weights_file import load_weights
from vit_str.training import OwnWords
from vit_str.training.crops import CropBatch, Crops, CropSampler, HeldOut
from vit_str.training.loader import SkippedWords
from vit_str.training.module import RecognizerTraining
from vit_str.training.workers import loaded_batches

# Lightning's and albumentations' own
pytestmark = pytest.mark.filterwarnings("default")

PREPROCESSING = Preprocessing(turn_above=TALL)
BAD = {"broken.png": "word", "empty.png": "", "kanji.png": "漢字", "long.png": "a" * 40}


def bytes_of(image: Image.Image, path: Path) -> bytes:
    image.save(path, "PNG")
    return path.read_bytes()


@pytest.fixture
def crops(tmp_path, word_image) -> Path:
    """Forty words, one of them on a tall picture, and four that cannot be used."""
    folder = tmp_path / "crops"
    folder.mkdir()
    rows = []
    for number in range(40):
        size = (40, 90) if number == 3 else (60 + number, 24)
        word_image(f"w{number}", size=size).save(folder / f"{number}.png")
        rows.append((f"{number}.png", f"w{number}"))
    for name, label in BAD.items():
        word_image("bad", size=(50, 20)).save(folder / name)
        rows.append((name, label))
    (folder / "broken.png").write_bytes(b"\x89PNG\r\n\x1a\nnothing")
    lines = "".join(f"{name}\t{label}\n" for name, label in rows)
    (folder / "labels.tsv").write_text(lines, encoding="utf-8")
    return folder


def stream_of(
    folder: Path, name: str = "none", held_out: HeldOut | None = None
) -> Crops:
    mixture = Mixture([open_words(folder)], seed=1)
    rules = Rules(Charset(), 25)
    return Crops(
        mixture, rules, held_out or HeldOut(), Augmentation(name, 1), PREPROCESSING
    )


def equal(first: CropBatch, second: CropBatch) -> bool:
    return first.labels == second.labels and torch.equal(first.images, second.images)


def test_a_batch_depends_on_its_numbers_only(crops):
    stream = stream_of(crops, "strong")
    whole = stream[50, 12]
    parts = [stream[57, 5], stream[50, 7]]
    assert whole.labels == parts[1].labels + parts[0].labels
    assert torch.equal(whole.images, torch.cat([parts[1].images, parts[0].images]))


def test_what_cannot_be_used_is_skipped_and_reported(crops, tmp_path):
    stream = stream_of(crops)
    met = stream[0, 300].skipped
    assert {each.name for each in met} >= {
        f"{crops}: broken.png",
        f"{crops}: kanji.png",
    }
    words = SkippedWords(tmp_path / "log")
    for each in met:
        words.add(each)
    words.close()
    lines = (tmp_path / "log" / "skipped.tsv").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 1 + len(BAD), "each is counted once"
    assert all(str(crops) in line for line in lines[1:])
    assert "'漢字'" in "".join(lines)


def test_pictures_are_those_that_reading_sees(crops):
    batch = stream_of(crops)[0, 400]
    for image, label in zip(batch.images, batch.labels, strict=True):
        seen = PREPROCESSING.pixels(load_image(crops / f"{label[1:]}.png"))
        assert torch.equal(image, seen)
    assert "w3" in batch.labels, "the tall one is turned"


def test_words_are_the_same_with_any_number_of_workers(crops):
    """And the random numbers of training are left alone."""
    before = torch.get_rng_state()
    sampler = CropSampler(start=7, stride=12, batch_size=6, rendered_share=0.3)
    stream = stream_of(crops, "strong")
    alone = list(islice(loaded_batches(stream, sampler, workers=0, pinned=False), 5))
    helped = list(islice(loaded_batches(stream, sampler, workers=2, pinned=False), 5))
    assert all(map(equal, alone, helped))
    assert any(batch.skipped for batch in alone) == any(
        batch.skipped for batch in helped
    )
    assert torch.equal(torch.get_rng_state(), before)


def own(sampler: CropSampler, batches: int) -> list[int]:
    """Numbers of the crops in the first batches."""
    pairs = islice(sampler, batches)
    return [
        number for start, length in pairs for number in range(start, start + length)
    ]


@pytest.mark.parametrize("share", [0.0, 0.25, 0.3, 0.5])
@pytest.mark.parametrize("devices", [1, 2, 3])
def test_devices_divide_the_stream(share, devices):
    alone = own(CropSampler(0, 10, 10, share), 12)
    parts = [
        own(CropSampler(10 * rank, 10 * devices, 10, share), 12 // devices)
        for rank in range(devices)
    ]
    assert sorted(chain.from_iterable(parts)) == alone == list(range(len(alone)))
    assert len(alone) == 120 - int(120 * share)


def test_a_run_resumes_with_batches_of_another_size():
    assert own(CropSampler(0, 8, 8, 0.3), 5) + own(
        CropSampler(40, 20, 20, 0.3), 4
    ) == own(CropSampler(0, 24, 24, 0.3), 5)


def test_images_are_held_out_by_their_bytes():
    held_out = HeldOut(0.1)
    images = [str(number).encode() for number in range(20_000)]
    chosen = [image in held_out for image in images]
    assert sum(chosen) / len(chosen) == pytest.approx(0.1, abs=0.01)
    assert all(image in HeldOut(0.2) for image in images if image in held_out)
    assert not any(image in HeldOut(0) for image in images)


def own_words(sources: list[Path], **arguments: Any) -> OwnWords:
    given = {"rendered_limit": 0, "workers": 0, "augment": "none", **arguments}
    return OwnWords(list(map(str, sources)), **given)


def judged(words: OwnWords) -> dict[str, list[str]]:
    return {
        batch.source: [label for part in loader for label in part.labels]
        for loader in words.val_dataloader()
        for batch in loader
    }


def test_rendered_words_are_validated_on_where_some_are_trained_on(crops, two_fonts):
    """Without them no font is looked for."""
    mixed = OwnWords([str(crops)], rendered_share=0.5, fonts=[two_fonts])
    assert mixed.rendered and mixed.rendered_limit == 512
    alone = OwnWords([str(crops)], fonts=[two_fonts / "nowhere"])
    assert alone.rendered is None and alone.rendered_limit == 0
    asked = OwnWords([str(crops)], rendered_limit=8, fonts=[two_fonts])
    assert asked.rendered and asked.rendered_limit == 8


def test_what_is_held_out_is_not_trained_on_whatever_the_seed(crops):
    first, second = (
        own_words([crops], validation_share=0.3, seed=seed) for seed in (1, 2)
    )
    assert judged(first).keys() == {"crops"}
    held = [
        label
        for label in judged(first)["crops"]
        if label in {f"w{n}" for n in range(40)}
    ]
    assert 3 < len(held) < 25
    assert sorted(judged(second)["crops"]) == sorted(judged(first)["crops"])
    for words in (first, second):
        trained = set(words.crops[0, 1024].labels)
        assert trained == {f"w{number}" for number in range(40)} - set(held)


def test_words_to_judge_on_are_not_trained_on_in_another_place(
    crops, tmp_path, word_image
):
    images = [(crops / f"{number}.png").read_bytes() for number in range(5)]
    words = [LabeledWord(image, f"w{number}") for number, image in enumerate(images)]
    path = tmp_path / "judged.lmdb"
    with WRITERS["lmdb"](path, Layout()) as writer:
        writer.add(
            [*words, LabeledWord(bytes_of(word_image("é"), tmp_path / "é.png"), "é")]
        )
    own = own_words([crops], validation=[str(path)])
    assert judged(own) == {"judged": ["w0", "w1", "w2", "w3", "w4", "é"]}, (
        "é will be misread"
    )
    assert not set(own.crops[0, 400].labels) & {"w0", "w1", "w2", "w3", "w4"}


def test_sources_are_taken_in_their_shares(crops, tmp_path, word_image):
    path = tmp_path / "more.lmdb"
    image = bytes_of(word_image("more"), tmp_path / "more.png")
    with WRITERS["lmdb"](path, Layout()) as writer:
        writer.add([LabeledWord(image, "more")] * 3)
    own = own_words([crops, path], shares=[3, 1], validation_share=0.0)
    labels = own.crops[0, 1024].labels
    assert labels.count("more") == 256, (
        "also where words that cannot be used are replaced"
    )
    assert judged(own) == {}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            {"rendered_share": 1.0},
            "rendered_share must be from 0 to below 1, found 1; for rend",
        ),
        ({"validation_share": -0.1}, "validation_share must be from 0 to below 1"),
        (
            {"validation_share": 1e-9},
            "validation_share 1e-09 holds out none of the words",
        ),
        ({"batch_size": 0}, "batch_size must be 1 or more, found 0"),
        ({"workers": -1}, "workers must be 0 or more"),
        ({"augment": "hard"}, "no augmentation 'hard'"),
        ({"shares": [1.0, 2.0]}, "weight above 0 for each"),
        (
            {"charset": "xyz"},
            "none of the first 44 words can be trained on; .*outside the charset",
        ),
    ],
)
def test_mistakes_are_reported_at_once(crops, arguments, said):
    with pytest.raises(ValueError, match=said) as caught:
        own_words([crops], **arguments)
    assert "\n" not in str(caught.value)


def arguments_for(crops: Path, *more: str) -> Iterator[str]:
    """For `run`: train on own crops instead of rendered words alone."""
    given = {
        "sources": f"[{crops}]",
        "workers": 0,
        "rendered_share": 0.4,
        "augment": "light",
    }
    yield "--data=vit_str.training.OwnWords"
    for name, value in given.items():
        yield f"--data.init_args.{name}={value}"
    yield from more


def test_a_run_that_is_cut_ends_like_one_that_is_not(run, crops):
    # Without what depends on how long the run is to be: it is not told the truth at first.
    steady = ("--model.schedule.decay_share=0.01", "--model.dense_weight=0")
    whole = run("whole", *arguments_for(crops, *steady))
    cut = run("cut", *arguments_for(crops, *steady, "--trainer.max_steps=2"))
    run("cut", *arguments_for(crops, *steady))
    with (cut / "log" / "metrics.csv").open() as file:
        later = [float(row["images"]) for row in csv.DictReader(file) if row["loss"]]
    assert later == [0, 4, 8, 12, 16, 20], "one log for both legs"
    expected, found = (
        load_file(folder / "weights.safetensors") for folder in (whole, cut)
    )
    for name, tensor in expected.items():
        assert torch.equal(found[name], tensor), name


def test_own_lines_are_as_wide_as_the_widest_of_their_batch(
    tmp_path, word_image, two_fonts, monkeypatch
):
    monkeypatch.setenv("VIT_STR_CACHE", str(two_fonts.parent))
    folder = tmp_path / "lines"
    folder.mkdir()
    texts = [f"line number {number}" for number in range(8)]
    for number, text in enumerate(texts):
        word_image(text, size=(100 + 60 * number, 24)).save(folder / f"{number}.png")
    rows = "".join(f"{number}.png\t{text}\n" for number, text in enumerate(texts))
    (folder / "labels.tsv").write_text(rows, encoding="utf-8")
    weights = load_weights(resolve("line"))
    weights.recognizer.encoder.train()
    charset = weights.charset.characters
    training = RecognizerTraining(weights.recognizer, charset)
    data = OwnWords(
        [str(folder)], batch_size=4, workers=0, validation_share=0.3, rendered_share=0.5,
        rendered_limit=4, fonts=[two_fonts], charset=charset, image_size=training.image_size,
        grid=training.grid, maximum_length=250, width_step=training.width_step,
    )  # fmt: skip
    trainer = Trainer(
        max_steps=1, accelerator="cpu", logger=False, enable_checkpointing=False,
        enable_progress_bar=False, limit_val_batches=1, default_root_dir=tmp_path,
    )  # fmt: skip
    trainer.fit(training, data)
    (batch,) = islice(data.train_dataloader(), 1)
    assert batch.images.shape[0] == 4 and batch.images.shape[3] % 32 == 0
    assert batch.token_characters.shape[1] == batch.images.shape[3] // 2
    own = batch.images[0]
    assert (own[..., -1] == own[..., -2]).all() or own.shape[-1] > 640


def test_mjsynth_and_synthtext_are_sources(tmp_path, word_image):
    """As they are distributed; what is broken is skipped, and a compressed archive refused."""
    savemat = pytest.importorskip("scipy.io").savemat
    folder = tmp_path / "90kDICT32px"
    (folder / "1" / "2").mkdir(parents=True)
    names = [f"1/2/{number}_Word{number}_7.jpg" for number in range(4)]
    for name in names[:3]:
        word_image("word").convert("RGB").save(folder / name)
    (folder / names[3]).write_bytes(b"")
    (folder / "annotation_train.txt").write_text(
        "".join(f"./{name} 7\n" for name in names)
    )
    scene = tmp_path / "SynthText" / "8" / "scene_0.jpg"
    scene.parent.mkdir(parents=True)
    word_image("scene", size=(200, 100)).convert("RGB").save(scene)
    corners = [[20, 80, 80, 20], [30, 30, 50, 50]]
    truth = {"imnames": ["8/scene_0.jpg"], "txt": ["cut"], "wordBB": corners}
    cells = {name: np.empty((1, 1), object) for name in truth}
    for name, value in truth.items():
        cells[name][0, 0] = np.array(value)
    savemat(tmp_path / "SynthText" / "gt.mat", cells)
    own = own_words([folder, tmp_path / "SynthText"], validation_share=0.0)
    batch = own.crops[0, 64]
    assert {*batch.labels} == {"Word0", "Word1", "Word2", "cut"}
    assert {word.reason for word in batch.skipped} == {Reason.UNREADABLE}
    (tmp_path / "mjsynth.tar.gz").write_bytes(b"")
    with pytest.raises(ValueError, match="convert it first: vit-str data convert"):
        own_words([tmp_path / "mjsynth.tar.gz"])


def test_accents_that_are_apart_are_trained_on_as_the_charset_has_them(
    tmp_path, word_image
):
    word_image("x").save(tmp_path / "x.png")
    (tmp_path / "labels.tsv").write_text("x.png\tnai\u0308ve\n", encoding="utf-8")
    own = own_words([tmp_path], validation_share=0.0, charset="naïve")
    assert own.crops[0, 2].labels == ["naïve", "naïve"]
