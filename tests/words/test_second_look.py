"""Larger weights read what the first ones doubt, and nothing else."""

import os
import signal
import threading
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image, ImageFilter

from vit_str.characters.charset import Charset
from vit_str.decoding.effort import ROUNDS_OF_AUGMENTATIONS
from vit_str.decoding.readings import Reading
from vit_str.decoding.search import Search
from vit_str.engines import weights_contents
from vit_str.engines.opened_once import OpenedOnce
from vit_str.engines.weights_contents import resolve
from vit_str.images.preprocessing import Preprocessing
from vit_str.machine import CPU_DTYPE
from vit_str.models import build, describe
from vit_str.scripts import registry
from vit_str.torch_runtime.weights_file import WeightsFile, load_weights
from vit_str.training.initialization import start_from
from vit_str.words.reader import Reader, load

WORDS = ["one", "Two", "three", "4", "Five", "six"]


class Opener:
    """Opens a reader, and counts how often."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self.count = 0

    def __call__(self) -> Reader:
        self.count += 1
        return self.reader


def doubting(weights: WeightsFile, below: float, **changes: Any) -> WeightsFile:
    return replace(weights, preprocessing=Preprocessing(reread_below=below), **changes)


def reader_of(weights: WeightsFile, **options: Any) -> Reader:
    return Reader(weights, "cpu", torch.float32, **options)


@pytest.fixture
def larger(small_recognizer) -> WeightsFile:
    """Other random weights, with more characters than those of `weights`."""
    charset = Charset(Charset().characters + "é")
    recognizer = small_recognizer(len(charset), seed=5)
    return WeightsFile(recognizer, charset, Preprocessing(reread_below=0.9), {}, 1.3)


@pytest.fixture
def images(word_image) -> list[Image.Image]:
    return [word_image(word) for word in WORDS]


def assert_same(found: list[Reading], expected: list[Reading], near: float) -> None:
    """The same texts, and nearly the same numbers."""
    for one, other in zip(found, expected, strict=True):
        assert one.text == other.text
        assert one.confidence == pytest.approx(other.confidence, abs=near)
        assert [each.text for each in one.alternatives] == [
            each.text for each in other.alternatives
        ]
        for mine, theirs in zip(one.characters, other.characters, strict=True):
            assert mine.character == theirs.character
            assert (mine.box is None) == (theirs.box is None)
            if mine.box is not None:
                assert mine.box == pytest.approx(theirs.box, abs=0.1)


@pytest.mark.parametrize(
    "options",
    [{}, {"search": Search(n_best=3)}, {"search": Search(alphabet="abcOne4")}],
    ids=["usual", "three", "alphabet"],
)
def test_what_the_first_doubts_is_what_the_second_reads(
    weights, larger, images, options
):
    """Its texts, characters, boxes and confidences, as it reads alone."""
    opener = Opener(reader_of(larger, **options))
    reader = reader_of(doubting(weights, 1.0), second=opener, **options)
    expected = reader_of(doubting(larger, 1.0), **options).read(images, boxes=True)
    assert_same(reader.read(images, boxes=True), expected, near=1e-6)
    assert opener.count == 1
    alone = reader_of(doubting(weights, 1.0), **options).read(images)
    assert [each.text for each in alone] != [each.text for each in expected]


def test_what_is_sure_stays_and_the_second_is_opened_at_the_first_doubt(
    weights, larger, images
):
    usual = reader_of(doubting(weights, 0.0)).read(images, boxes=True)
    confidences = sorted(reading.confidence for reading in usual)
    opener = Opener(reader_of(larger))
    least = (confidences[1] + confidences[2]) / 2  # two are below it
    reader = reader_of(doubting(weights, least), second=opener)
    sure = [reading.confidence >= least for reading in usual]
    certain = [image for image, is_sure in zip(images, sure, strict=True) if is_sure]
    assert len(certain) == 4
    reader.read(certain)
    assert opener.count == 0
    found = reader.read(images, boxes=True)
    expected = reader_of(doubting(larger, least)).read(images, boxes=True)
    for is_sure, one, own, other in zip(sure, found, usual, expected, strict=True):
        assert_same([one], [own if is_sure else other], near=1e-6)
    assert opener.count == 1


@pytest.mark.parametrize("change", ["fast", "one look"])
def test_who_looks_once_never_opens_it(weights, larger, images, change):
    opener = Opener(reader_of(larger))
    effort = "fast" if change == "fast" else None
    reader = reader_of(doubting(weights, 1.0), effort=effort, second=opener)
    if change == "one look":
        reader = reader.at_one_look()
    assert reader.read(images) == reader_of(doubting(weights, 0.0)).read(images)
    reader.open_others()
    assert opener.count == 0


def test_who_reads_print_never_opens_it(weights, larger, images):
    opener = Opener(reader_of(larger))
    reader = reader_of(doubting(weights, 1.0), second=opener)
    alone = reader_of(doubting(weights, 1.0))
    found = reader.without_augmentation().read(images)
    assert found == alone.without_augmentation().read(images)
    assert opener.count == 0
    reader.read(images)
    assert opener.count == 1


def test_it_can_be_opened_before(weights, larger):
    opener = Opener(reader_of(larger))
    reader = reader_of(doubting(weights, 0.9), second=opener)
    reader.open_others()
    assert opener.count == 1


def test_it_looks_as_its_reader_is_told_to(weights, larger, images):
    """Views, beams and rounds are those of the reader that doubts."""
    reader = reader_of(doubting(weights, 1.0), second=Opener(reader_of(larger)))
    once = reader_of(doubting(larger, 0.0)).read(images)
    assert_same(reader.with_rereading(rounds=()).read(images), once, near=1e-6)
    assert [each.confidence for each in reader.read(images)] != [
        each.confidence for each in once
    ]


def test_tall_images_keep_the_way_up_that_the_first_has_chosen(
    weights, larger, word_image
):
    image = word_image("Two").rotate(90, expand=True)
    turning = Preprocessing(turn_above=1.5, reread_below=1.0)
    first = replace(weights, preprocessing=turning)
    second = replace(larger, preprocessing=turning)
    reader = reader_of(first, second=Opener(reader_of(second)))
    (found,) = reader.read([image], boxes=True)
    both_ways = [
        reader_of(doubting(larger, 1.0)).read(image.rotate(angle, expand=True))
        for angle in (90, -90)
    ]
    assert found.text in [each.text for each in both_ways]
    height, width = image.height, image.width
    for character in found.characters:
        left, top, right, bottom = character.box
        assert 0 <= left <= right <= width and 0 <= top <= bottom <= height


def test_weights_that_see_other_images_are_refused(weights, larger, images):
    wider = replace(larger, preprocessing=Preprocessing(32, 128, turn_above=2.0))
    reader = reader_of(doubting(weights, 1.0), second=Opener(reader_of(wider)))
    with pytest.raises(ValueError, match="if they see images in the same size"):
        reader.read(images)


def test_threads_open_it_once():
    opened = []
    waiting = threading.Barrier(8)

    def slowly() -> int:
        opened.append(None)
        threading.Event().wait(0.05)
        return len(opened)

    once = OpenedOnce(slowly)
    results = []

    def ask() -> None:
        waiting.wait()
        results.append(once())

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [1] * 8


def test_what_could_not_be_opened_is_tried_again():
    answers: list[Any] = [ValueError("not yet"), "reader"]

    def open_value() -> str:
        answer = answers.pop(0)
        if isinstance(answer, ValueError):
            raise answer
        return str(answer)

    once = OpenedOnce(open_value)
    with pytest.raises(ValueError, match="not yet"):
        once()
    assert (once(), once()) == ("reader", "reader")


def test_names_of_the_package_read_so(doubting_folder, images, monkeypatch):
    monkeypatch.setenv(CPU_DTYPE, "float32")
    monkeypatch.setattr(registry, "BUNDLED", doubting_folder)
    monkeypatch.setattr(weights_contents, "BUNDLED", doubting_folder)

    def read(name: str | Path, **options: Any) -> list[str]:
        reader = load(name, "cpu", backend="torch", **options)
        return [reading.text for reading in reader.read(images)]

    expected = read("base")
    assert read("tiny") == read(doubting_folder) == expected
    assert read("tiny", effort="fast") != expected
    assert read(resolve("tiny")) != expected, "a file reads alone"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes of POSIX are forked")
def test_a_forked_process_opens_its_own():
    """Also of a process whose other thread is just opening it."""
    is_opening = threading.Event()
    goes_on = threading.Event()

    def open_slowly() -> int:
        is_opening.set()
        goes_on.wait(10)
        return os.getpid()

    once = OpenedOnce(open_slowly)
    thread = threading.Thread(target=once)
    thread.start()
    is_opening.wait()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that there are threads
        child = os.fork()
    if not child:
        signal.alarm(20)
        goes_on.set()
        os._exit(once() != os.getpid())
    goes_on.set()
    thread.join()
    assert os.waitpid(child, 0)[1] == 0
    assert once() == os.getpid()


@pytest.fixture(scope="module")
def tiny() -> WeightsFile:
    return load_weights(resolve("tiny"))


@pytest.fixture(scope="module")
def grown(tiny) -> WeightsFile:
    """A deeper network, which computes what `tiny` does."""
    description = describe(tiny.recognizer)
    description["encoder"]["arguments"]["depth"] = 6
    description["decoder"]["arguments"]["depth"] = 3
    torch.manual_seed(0)
    recognizer = build(description).eval()
    start_from(recognizer, tiny.charset, tiny)
    return replace(tiny, recognizer=recognizer)


@pytest.fixture(scope="module")
def unclear(samples) -> list[Image.Image]:
    """Images of words of which some are hard to read."""
    return [
        image.convert("RGB").filter(ImageFilter.GaussianBlur(image.height / divisor))
        for image in map(Image.open, samples)
        for divisor in (1000, 12, 8)
    ]


@pytest.fixture(scope="module")
def samples(pytestconfig) -> list[Any]:
    return sorted((pytestconfig.rootpath / "data/samples/images").iterdir())


@pytest.mark.parametrize(
    "search",
    [Search(), Search(language="none"), Search(language="en", n_best=3)],
    ids=["usual", "none", "three"],
)
def test_the_same_network_but_deeper_reads_what_it_reads_alone(
    tiny, grown, unclear, search
):
    """Beams, the frequency of words, and views where that leaves doubts."""
    opener = Opener(reader_of(grown, search=search))
    reader = reader_of(tiny, search=search, second=opener)
    alone = reader_of(tiny, search=search)
    looks = [
        np.array([each.confidence for each in looking.read(unclear)])
        for looking in (alone.at_one_look(), alone.without_augmentation())
    ]
    assert 6 < (looks[0] < 0.9).sum() < 32, "some are doubtful, some are not"
    assert (looks[1] < 0.6).sum() > 2, "and some after the frequency of words"
    expected = alone.read(unclear, boxes=True)
    assert_same(reader.read(unclear, boxes=True), expected, near=1e-4)
    assert opener.count == 1


def test_it_reads_what_all_but_the_last_round_leaves_in_doubt(tiny, grown, unclear):
    first = reader_of(tiny).with_rereading(rounds=ROUNDS_OF_AUGMENTATIONS[:1])
    expected = first.read(unclear, boxes=True)
    once = reader_of(tiny).at_one_look().read(unclear)
    reader = reader_of(tiny, second=Opener(reader_of(grown)))
    found = reader.read(unclear, boxes=True)
    settled = [place for place, each in enumerate(expected) if each.confidence >= 0.4]
    assert sum(once[place].confidence < 0.9 for place in settled) > 3
    own = [found[place] for place in settled]
    assert_same(own, [expected[place] for place in settled], near=1e-4)
    others = [place for place in range(len(unclear)) if place not in settled]
    assert [found[place] for place in others] != [expected[place] for place in others]
