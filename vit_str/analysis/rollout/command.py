"""``vit-str analyze rollout``: attention multiplied through the layers."""

import argparse
import time

from vit_str.analysis.arguments import add_images, add_models, add_shown

_RESIDUAL = 0.5  # the paper's choice


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of this question."""
    add_models(parser)
    add_images(parser)
    parser.add_argument(
        "--residual",
        type=float,
        default=_RESIDUAL,
        metavar="SHARE",
        help=f"of the skip connection in every layer ({_RESIDUAL})",
    )
    add_shown(parser, 4)


def run(options: argparse.Namespace) -> int:
    """Roll out the attention of every model on the same images and write a table and a page."""
    from vit_str.analysis.geometry import TokenGrid
    from vit_str.analysis.images import batches_of, load_images
    from vit_str.analysis.map_sheet import MappedWord
    from vit_str.analysis.relevance.methods import rollout_words
    from vit_str.analysis.results import Measurement, write_page, write_summary
    from vit_str.analysis.rollout.measure import RolloutAnalysis
    from vit_str.analysis.rollout.page import rollout_page
    from vit_str.analysis.subjects import load_subjects
    from vit_str.pages.tables import write_rows

    start = time.monotonic()
    subjects = load_subjects(options.models, options.seed)
    rows: list[Measurement] = []
    words: dict[str, list[MappedWord]] = {subject.name: [] for subject in subjects}
    for subject in subjects:
        images = load_images(subject, options.data, options.count, options.seed, options.fonts)
        analysis, shown = RolloutAnalysis(subject, options.residual), words[subject.name]
        for batch, pixels in batches_of(subject, images, options.batch_size, options.device):
            analysis.update(pixels)
            missing = options.show - len(shown)
            if missing > 0:
                shown += rollout_words(subject, batch, pixels[:missing], options.residual)
        rows += analysis.measurements(options.seed)
    write_rows(options.out / "rollout.csv", Measurement, rows)
    seconds = time.monotonic() - start
    chance = {"uniform": TokenGrid.of(subjects[0].recognizer.encoder).uniform_distance()}
    n = rows[0].n
    write_summary(options.out, vars(options), subjects, images, seconds, n=n, chance=chance)
    return write_page(rollout_page(rows, chance, words, images.description), options.out, images)
