"""``vit-str render --compare``: statistics of rendered words against photographed ones."""

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from itertools import combinations
from pathlib import Path

import torch
from jaxtyping import Float64
from torch import Tensor

import vit_str
from vit_str.analysis.figures.realism import SHOWN, characters, distributions, sheet
from vit_str.analysis.realism import (
    Estimate,
    Gap,
    Verdict,
    gap,
    quantiles,
    standardized,
    tell_apart,
    within,
)
from vit_str.analysis.tables import write_csv, write_whole
from vit_str.analysis.word_statistics import (
    LABEL_STATISTICS,
    STATISTICS,
    Pictures,
    Values,
    character_shares,
    label_kinds,
    label_statistics,
    picture_statistics,
)
from vit_str.evaluation import LabeledImages
from vit_str.images import TALL, Preprocessing, UnreadableImage, load_sized_image, one_line
from vit_str.pages.page import Page
from vit_str.synthesis.renderer import Renderer

RENDERED = "rendered"
_ALL = "all folders"
_BATCH = 64
_ALL_STATISTICS = {**STATISTICS, **LABEL_STATISTICS}

_LEAD = """\
Statistics of rendered words beside those of photographed ones, all of the size that a model sees. \
Distance: how far values have to be moved on average to be those of the other set (Wasserstein-1), \
in standard deviations. Higher: share of pairs in which the rendered word has the larger value. \
Inside: share of photographs between the 1 % and the 99 % quantile of rendered words."""

_APART = """\
Area under the curve of a logistic regression on the statistics of pictures and their squares, in \
five folds: 0.5 cannot tell the sets apart, 1 always can. Pairs of folders are the scale: \
photographs of different origin are told apart as well."""


@dataclass(frozen=True)
class Words:
    """Pictures of words from one source.

    Attributes:
        name: of the source.
        pictures: as a model sees them.
        labels: what they say.
        sizes: height and width of each as it came; None of rendered words.
        skipped: a line for each image that is missing or cannot be read.
    """

    name: str
    pictures: Pictures
    labels: list[str]
    sizes: list[tuple[int, int]] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)

    @cached_property
    def of_pictures(self) -> dict[str, Values]:
        """Statistics of the pictures."""
        return picture_statistics(self.pictures)

    @cached_property
    def values(self) -> dict[str, Values]:
        """Statistics of pictures and labels."""
        return self.of_pictures | label_statistics(self.labels)

    def __len__(self) -> int:
        return len(self.pictures)


@dataclass(frozen=True, slots=True)
class Comparison:
    """What was found.

    Attributes:
        rendered: the rendered words.
        folders: the photographed ones.
        gaps: folder -> statistic -> how they differ.
        inside: folder -> share of its pictures inside the range of rendered ones in everything.
        verdicts: pairs of names -> how well they are told apart; None for too few pictures.
    """

    rendered: Words
    folders: list[Words]
    gaps: Mapping[str, Mapping[str, Gap]]
    inside: Mapping[str, float]
    verdicts: Mapping[tuple[str, str], Verdict | None]

    def by_distance(self, folder: str) -> list[tuple[str, Gap]]:
        """Statistics, the most different first."""
        known = [item for item in self.gaps[folder].items() if item[1].distance.value >= 0]
        return sorted(known, key=lambda item: -item[1].distance.value)


def compare(
    renderer: Renderer, folders: Sequence[Path | str], count: int, seed: int, out: Path
) -> str:
    """Compare rendered words with those of folders; write ``report.html``, tables and figures.

    Args:
        renderer: what to judge.
        folders: of photographed words, with ``labels.tsv`` each.
        count: words to render, and most images of each folder, evenly spread.
        seed: of the renderer.
        out: folder to write to.

    Returns:
        Text for a terminal.

    Raises:
        ValueError: no folder, one without images that can be read, or a count below 1.
    """
    start = time.monotonic()
    found = measure(draw(renderer, count, seed), load(folders, renderer.image_size, count), seed)
    write_csv(out / "realism.csv", *_rows(found))
    write_csv(out / "characters.csv", *_characters(found))
    summary = _summary(found) | {
        "count": count,
        "seed": seed,
        "image_size": renderer.image_size,
        "ingredients": asdict(renderer.ingredients),
        "versions": {"vit-str": vit_str.__version__, "torch": torch.__version__},
        "seconds": round(time.monotonic() - start, 2),
    }
    text = json.dumps(summary, indent=1, ensure_ascii=False)
    write_whole(out / "summary.json", f"{text}\n".encode())
    page = _page(found).write(out)
    return "\n".join([*_text(found), f"{page}"])


def draw(renderer: Renderer, count: int, seed: int) -> Words:
    """The first words of a seed.

    Raises:
        ValueError: a count below 1.
    """
    if count < 1:
        raise ValueError(f"--count must be at least 1, found {count}")
    pictures, labels = [], []
    for index in range(-(-count // _BATCH)):
        batch = renderer.batch(_BATCH, seed, index)
        pictures.append(batch.images.cpu())
        labels += [renderer.charset.decode(ids) for ids in batch.labels.tolist()]
    return Words(RENDERED, torch.cat(pictures)[:count], labels[:count])


def load(folders: Sequence[Path | str], size: tuple[int, int], count: int) -> list[Words]:
    """Photographed words, at most so many of each folder.

    Raises:
        ValueError: no folder, or one without images that can be read.
    """
    if not folders:
        raise ValueError("nothing to compare with: give one folder with labels.tsv or more")
    sets = [LabeledImages(folder) for folder in folders]
    names = [RENDERED, _ALL, *(images.name for images in sets)]
    # Tall crops are turned, as lines that run down are in rendered words.
    preprocessing = Preprocessing(*size, turn_above=TALL)
    return [
        _load(
            images,
            str(images.folder) if names.count(images.name) > 1 else images.name,
            preprocessing,
            count,
        )
        for images in sets
    ]


def _load(images: LabeledImages, name: str, preprocessing: Preprocessing, count: int) -> Words:
    skipped = [f"{one_line(str(images.folder / file))}: missing" for file in images.missing]
    pictures, labels, sizes = [], [], []
    step = max(len(images) / count, 1)
    for number in range(min(count, len(images))):
        path, label = images.paths[int(number * step)], images.labels[int(number * step)]
        try:
            image, size = load_sized_image(path)
        except UnreadableImage as error:
            skipped.append(str(error))
            continue
        pictures.append(preprocessing.pixels(image))
        labels.append(label)
        sizes.append(size)
    if not pictures:
        raise ValueError(f"{images.folder}: no image in it can be read; give another folder")
    return Words(one_line(name), torch.stack(pictures), labels, sizes, skipped)


def measure(rendered: Words, folders: list[Words], seed: int = 0) -> Comparison:
    """Compare rendered words with every folder, and all with all."""
    gaps = {
        words.name: {
            name: gap(rendered.values[name], words.values[name], seed) for name in _ALL_STATISTICS
        }
        for words in folders
    }
    inside = {words.name: _inside(rendered, words) for words in folders}
    verdicts = {
        (first.name, second.name): tell_apart(first.of_pictures, second.of_pictures, seed)
        for first, second in combinations([rendered, *folders], 2)
    }
    everything = {
        name: torch.cat([words.of_pictures[name] for words in folders]) for name in STATISTICS
    }
    of_all = tell_apart(rendered.of_pictures, everything, seed)
    return Comparison(rendered, folders, gaps, inside, {(RENDERED, _ALL): of_all, **verdicts})


def _inside(rendered: Words, real: Words) -> float:
    pairs = ((rendered.of_pictures[name], real.of_pictures[name]) for name in STATISTICS)
    return torch.stack([within(*pair) for pair in pairs]).all(0).double().mean().item()


def _rows(found: Comparison) -> tuple[list[str], list[list[object]]]:
    """The table of all statistics and sets; rendered words first, without distances."""
    columns = ["statistic", "unit", "set", "n", "q05", "q25", "q50", "q75", "q95"]
    columns += ["distance", "distance_low", "distance_high", "higher", "higher_low", "higher_high"]
    rows: list[list[object]] = []
    for name, statistic in _ALL_STATISTICS.items():
        for words in (found.rendered, *found.folders):
            values = words.values[name]
            n = int((~values.isnan()).sum())
            row: list[object] = [name, statistic.unit, words.name, n, *quantiles(values)]
            between = found.gaps.get(words.name, {}).get(name)
            compared = (
                [*between.distance, *between.higher, between.inside] if between else [None] * 7
            )
            rows.append([*row, *compared])
    for words in found.folders:
        for name, unit, values in _sizes(words):
            rows.append([name, unit, words.name, len(values), *quantiles(values), *[None] * 7])
    return [*columns, "inside"], rows


def _sizes(words: Words) -> list[tuple[str, str, Values]]:
    """Of crops as they came: name, unit, values."""
    height, width = torch.tensor(words.sizes, dtype=torch.float64).unbind(1)
    return [("height", "px", height), ("width", "px", width), ("aspect", "1", width / height)]


def _characters(found: Comparison) -> tuple[list[str], list[list[object]]]:
    shares = _shares(found)
    occurring = sorted({character for each in shares.values() for character in each})
    rows = [[each, *(share.get(each, 0.0) for share in shares.values())] for each in occurring]
    return ["character", *shares], rows


def _shares(found: Comparison) -> dict[str, dict[str, float]]:
    return {
        words.name: character_shares(words.labels) for words in (found.rendered, *found.folders)
    }


def _summary(found: Comparison) -> dict[str, object]:
    """What ``summary.json`` says; the rest is in the tables."""
    return {
        "sets": {
            words.name: {
                "words": len(words),
                "skipped": words.skipped,
                "label_kinds": label_kinds(words.labels),
                "inside_in_everything": found.inside.get(words.name),
            }
            for words in (found.rendered, *found.folders)
        },
        "told_apart": [
            {"sets": pair, "auc": None, "reason": "fewer than 10 pictures"}
            if verdict is None
            else {"sets": pair, **verdict.auc._asdict(), "loss": verdict.loss}
            for pair, verdict in found.verdicts.items()
        ],
    }


def _text(found: Comparison) -> list[str]:
    """Lines for a terminal: tables, verdicts, what could not be read."""
    lines: list[str] = []
    for words in found.folders:
        between = f"{len(found.rendered):,} rendered words against {len(words):,} of {words.name}"
        lines += [f"{between}, most different first", *_aligned(_short(found, words.name)), ""]
    kinds = {words.name: label_kinds(words.labels) for words in (found.rendered, *found.folders)}
    titles = ["labels, percent", *kinds[RENDERED]]
    cells = [[name, *(f"{100 * share:.1f}" for share in of.values())] for name, of in kinds.items()]
    lines += [*_aligned([titles, *cells]), ""]
    lines += _aligned([["told apart, 0.5 is not at all", "AUC [95 %]", "by"], *_told(found)])
    lines += [
        f"{name}: {100 * share:.0f} % lie inside the 1-99 % range of rendered words in everything"
        for name, share in found.inside.items()
    ]
    skipped = {words.name: len(words.skipped) for words in found.folders if words.skipped}
    lines += [
        f"{name}: images skipped, missing or not readable: {n:,}" for name, n in skipped.items()
    ]
    return lines


def _short(found: Comparison, folder: str) -> list[list[str]]:
    """The table of one folder with the quantiles 5, 50 and 95 %."""
    titles = ["statistic", "unit", "rendered 5, 50, 95 %", "photographed"]
    rows = [[*titles, "distance [95 %]", "higher", "inside", "rendered words are"]]
    for name, between in found.by_distance(folder):
        statistic = _ALL_STATISTICS[name]
        spans = (
            ", ".join(f"{values[place]:.3g}" for place in (0, 2, 4))
            for values in (between.rendered, between.real)
        )
        shares = (f"{between.higher.value:.2f}", f"{between.inside:.2f}")
        words = between.direction(statistic)
        rows.append(
            [statistic.title, statistic.unit, *spans, _interval(between.distance), *shares, words]
        )
    return rows


def _told(found: Comparison) -> list[list[str]]:
    """Who is told apart, how well, by which statistics most."""
    rows = []
    for (first, second), verdict in found.verdicts.items():
        if verdict is None:
            rows.append([f"{first} / {second}", "-", "fewer than 10 pictures"])
        else:
            most = sorted(verdict.loss.items(), key=lambda item: -item[1])[:4]
            by = ", ".join(f"{STATISTICS[name].title.lower()} {loss:.2f}" for name, loss in most)
            rows.append([f"{first} / {second}", _interval(verdict.auc), by])
    return rows


def _interval(estimate: Estimate) -> str:
    return f"{estimate.value:.2f} [{estimate.low:.2f}, {estimate.high:.2f}]"


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]


def _page(found: Comparison) -> Page:
    sources = " and ".join(f"{len(words):,} of {words.name}" for words in found.folders)
    count = f"{len(found.rendered):,} rendered words against {sources}"
    page = Page("Rendered and photographed words", f"{_LEAD} {count}.")
    page.heading("At a glance")
    page.paragraph(_APART)
    titles = ["sets", "AUC [95 %]", "what is lost without a statistic"]
    page.table(titles, _told(found), "How well sets are told apart")
    sets = (found.rendered, *found.folders)
    by_statistic = {
        statistic: {words.name: words.values[name].numpy() for words in sets}
        for name, statistic in _ALL_STATISTICS.items()
    }
    page.figure(
        distributions(by_statistic),
        "realism",
        f"Distributions of all statistics, {count}; what lies beyond an end is counted there.",
    )
    page.heading("The look")
    page.picture(
        sheet(_looks(found)),
        "look",
        "Photographed words over the rendered words nearest to them in the statistics (in standard "
        "deviations), and what the classifier tells apart most surely.",
    )
    page.heading("In numbers")
    for words in found.folders:
        titles, *cells = _short(found, words.name)
        page.table(titles, cells, f"Rendered words against {words.name}, most different first")
        for line in words.skipped:
            page.note(f"Skipped: {line}")
    titles = ["set", "statistic", "unit", "5 %", "25 %", "50 %", "75 %", "95 %"]
    sizes = [
        [words.name, name, unit, *quantiles(values)]
        for words in found.folders
        for name, unit, values in _sizes(words)
    ]
    page.table(titles, sizes, "Photographed crops as they came")
    page.heading("Labels")
    kinds = {words.name: label_kinds(words.labels) for words in sets}
    rows = [[name, *of.values()] for name, of in kinds.items()]
    page.table(["set", *kinds[RENDERED]], rows, "Shares of labels by the case of their letters")
    page.figure(characters(_shares(found)), "characters", "Share of every character, by set.")
    return page


def _looks(found: Comparison) -> list[tuple[str, Pictures]]:
    """Lines of pictures with their titles."""
    rows = []
    rendered = torch.stack(list(found.rendered.of_pictures.values()), 1)
    for words in found.folders:
        values = torch.stack(list(words.of_pictures.values()), 1)
        chosen = torch.arange(0, len(words), max(1, len(words) // SHOWN))[:SHOWN]
        nearest = _nearest(standardized(values[chosen], values), standardized(rendered, values))
        rows.append((f"{words.name}", words.pictures[chosen]))
        rows.append(
            (f"rendered, nearest to these of {words.name}", found.rendered.pictures[nearest])
        )
    verdict = found.verdicts[RENDERED, _ALL]
    if verdict is not None:
        first, second = verdict.scores
        photographed = torch.cat([words.pictures for words in found.folders])
        least = found.rendered.pictures[first.argsort(descending=True)[: 2 * SHOWN]]
        rows.append(("rendered, told most surely from photographs", least[:SHOWN]))
        rows.append(("", least[SHOWN:]))
        least = photographed[second.argsort()[: 2 * SHOWN]]
        rows.append(("photographed, told most surely from rendered", least[:SHOWN]))
        rows.append(("", least[SHOWN:]))
    return rows


def _nearest(
    chosen: Float64[Tensor, "chosen statistic"], among: Float64[Tensor, "picture statistic"]
) -> Tensor:
    return torch.cdist(chosen, among).argmin(1)
