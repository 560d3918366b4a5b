"""``vit-str analyze relevance``: which tokens made the decoder write a character, by gradients."""

import argparse
import time
from dataclasses import dataclass, field

import torch
from jaxtyping import Float64
from torch import Tensor

from vit_str.analysis import cli
from vit_str.analysis.explanations import METHODS, MethodScore, drops, methods_for, random_maps
from vit_str.analysis.figures.map_sheet import MappedWord, map_sheet, mapped_words
from vit_str.analysis.figures.overlays import CAUTION
from vit_str.analysis.figures.relevance import scores_by_method
from vit_str.analysis.geometry import TokenGrid
from vit_str.analysis.intervals import mean_over_images
from vit_str.analysis.localization import covered
from vit_str.analysis.material import Batch, Material
from vit_str.analysis.subjects import UNTRAINED, Subject, load_subject
from vit_str.analysis.tables import write_csv, write_summary
from vit_str.analysis.walk import material_for, walk
from vit_str.pages.page import Page
from vit_str.pages.style import is_untrained

_LEAD = """\
Which tokens of the image made the decoder write a character: attention weighted by its gradients \
and carried through encoder and decoder (relevance, Chefer et al. 2021), beside plain \
cross-attention, rollout and the gradient of the image."""

_TESTS = """\
Two tests of the maps. Where characters truly are is known for rendered words: energy is the share \
of a map inside of the box of its character, lift the same over the share of the image that the \
box takes, pointing whether most of the largest token lies in the box; only words that were read \
right count. And whether the model minds: drop is by how much the probability of the character \
falls when the tokens that its map names first are painted in the mean color of the image. A map \
that is good at one test need not be good at the other."""

METRICS = {
    "energy": "share",
    "lift": "share of uniform",
    "pointing": "share",
    "drop": "probability",
}
RANDOM = "random"


@dataclass(slots=True)
class _Scores:
    """Of every word: by method and metric, NaN where there is nothing to score."""

    words: dict[tuple[str, str], list[float]] = field(default_factory=dict)

    def add(self, source: str, metric: str, value: float) -> None:
        self.words.setdefault((source, metric), []).append(value)

    def means(self, seed: int) -> list[MethodScore]:
        """Over the words in which there is something to score; no row where there is none."""
        found = []
        for (source, metric), words in self.words.items():
            values = torch.tensor(words, dtype=torch.float64)
            known = values[~values.isnan()]
            if len(known):
                mean, low, high = (float(part) for part in mean_over_images(known, seed)[:3])
                row = MethodScore(source, metric, METRICS[metric], mean, low, high, len(known))
                found.append(row)
        return found


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of this subcommand."""
    cli.models(parser, several=False)
    cli.common(parser, count=50)
    parser.add_argument(
        "--hide",
        type=float,
        default=0.1,
        metavar="SHARE",
        help="of the tokens to paint over in the test whether the model minds (0.1)",
    )
    parser.add_argument(
        "--show", type=int, default=4, metavar="N", help="words to draw with their maps (4)"
    )


def run(options: argparse.Namespace) -> None:
    """Ask a model by every method why it wrote what it wrote, and write what was found."""
    start = time.monotonic()
    if not 0 < options.hide <= 1:
        raise ValueError(f"--hide must be above 0 and at most 1, found {options.hide}")
    subject = load_subject(options.models[0], options.seed)
    subjects = [subject]
    if subject.trained:
        subjects.append(load_subject(f"{UNTRAINED}{options.models[0]}", options.seed))
    material = material_for(subject, options)
    scores, words = _score(subjects, material, options)
    means = scores.means(options.seed)
    write_csv(options.out / "relevance.csv", MethodScore._fields, means)
    write_summary(options.out, options, subjects, material, time.monotonic() - start)
    page = _page(subject, means, words, material, options)
    cli.report(page.write(options.out), material)


def _score(
    subjects: list[Subject], material: Material, options: argparse.Namespace
) -> tuple[_Scores, list[MappedWord]]:
    """Scores of all words, and the first few to be shown."""
    subject = subjects[0]
    grid = TokenGrid.of(subject.recognizer.encoder)
    scores = _Scores()
    words: list[MappedWord] = []
    for number, (batch, images) in enumerate(walk(subject, material, options)):
        labels = subject.recognizer.generate(images).labels
        texts = [subject.charset.decode(ids) for ids in labels.tolist()]
        maps = _maps(subjects, images, labels, options.seed + number)
        for source, each in maps.items():
            for place, text in enumerate(texts):
                for metric, score in located(batch, place, text, each[place], grid).items():
                    scores.add(source, metric, score)
            if not is_untrained(source):
                fallen = drops(subject.recognizer, images, labels, each, options.hide)
                for score in fallen.nanmean(1).tolist():
                    scores.add(source, "drop", score)
        if len(words) < options.show:
            words += _shown(subject, batch, texts, maps)[: options.show - len(words)]
    return scores, words


def _maps(subjects: list[Subject], images: Tensor, labels: Tensor, seed: int) -> dict[str, Tensor]:
    """By method: of the model, of the model without training, and random ones."""
    found: dict[str, Tensor] = {}
    for place, subject in enumerate(subjects):
        recognizer = subject.recognizer.to(images.device)
        for name in methods_for(recognizer):
            found[f"{UNTRAINED if place else ''}{name}"] = METHODS[name](recognizer, images, labels)
    return found | {RANDOM: random_maps(next(iter(found.values())), seed)}


def located(
    batch: Batch,
    place: int,
    text: str,
    maps: Float64[Tensor, "character row column"],
    grid: TokenGrid,
) -> dict[str, float]:
    """How much of the maps lies in the boxes of the characters of one image.

    Args:
        batch: with the image.
        place: of the image in it.
        text: that was read.
        maps: of its characters.
        grid: of the maps.

    Returns:
        Means over characters; nothing if nobody knows their boxes, or the text is wrong.
    """
    if batch.boxes is None or batch.labels is None or text != batch.labels[place]:
        return {}
    boxes = batch.boxes[place, : len(text)].double()
    drawn = boxes[:, 2] > boxes[:, 0]
    if not drawn.any():
        return {}
    inside = covered(boxes, grid)[drawn]
    values = maps[: len(text)][drawn]
    energy, area = (values * inside).sum((1, 2)), inside.mean((1, 2))
    top = values.flatten(1).argmax(1, keepdim=True)
    pointing = (inside.flatten(1).gather(1, top) >= 0.5).double()
    means = {"energy": energy, "lift": energy / area, "pointing": pointing}
    return {name: float(each.mean()) for name, each in means.items()}


def _shown(
    subject: Subject, batch: Batch, texts: list[str], maps: dict[str, Tensor]
) -> list[MappedWord]:
    own = {name: maps[name] for name in methods_for(subject.recognizer)}
    return mapped_words(batch.names, batch.pixels, texts, own)


def _page(
    subject: Subject,
    scores: list[MethodScore],
    words: list[MappedWord],
    material: Material,
    options: argparse.Namespace,
) -> Page:
    page = Page("Relevance", f"{_LEAD} Asked of {subject.name}, with {material.description}.")
    page.heading("Two tests")
    page.paragraph(_TESTS)
    page.figure(
        scores_by_method(scores),
        "tests",
        "Means over words of the means over their characters, with 95 % bootstrap intervals; "
        f"{options.hide:.0%} of the tokens are hidden for the drop.",
    )
    page.table(*_table(scores), "Means with 95 % intervals over the words of the figure")
    if words:
        page.heading("Word by word")
        page.note(CAUTION)
        page.picture(
            map_sheet(words),
            "words",
            f"{subject.name}: maps of the characters that it read; dark is the most of each map.",
        )
    return page


def _table(scores: list[MethodScore]) -> tuple[list[str], list[list[object]]]:
    """A row for each method, a column for each metric."""
    metrics = list(dict.fromkeys(score.metric for score in scores))
    cells = {
        (score.method, score.metric): f"{score.mean:.2f} [{score.low:.2f}, {score.high:.2f}]"
        for score in scores
    }
    methods = list(dict.fromkeys(score.method for score in scores))
    rows: list[list[object]] = [
        [method, *(cells.get((method, metric)) for metric in metrics)] for method in methods
    ]
    return ["method", *metrics], rows
