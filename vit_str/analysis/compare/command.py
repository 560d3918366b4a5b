"""``vit-str analyze compare``: two models on the same images, as paired differences."""

import argparse
import time

from vit_str.analysis.arguments import add_images, add_norm


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of this question."""
    for name in ("first", "second"):
        parser.add_argument(name, metavar=name.upper(), help="a model, as for distance")
    add_images(parser)
    add_norm(parser)


def run(options: argparse.Namespace) -> int:
    """Measure both models and write their differences."""
    from vit_str.analysis.compare.measure import Difference, differences
    from vit_str.analysis.compare.page import compare_page
    from vit_str.analysis.distance.measure import measure
    from vit_str.analysis.images import load_images
    from vit_str.analysis.results import write_page, write_summary
    from vit_str.analysis.statistics import METRICS
    from vit_str.analysis.subjects import load_subjects
    from vit_str.pages.tables import write_rows

    start = time.monotonic()
    subjects = load_subjects([options.first, options.second], options.seed)
    norm, size, device = options.norm, options.batch_size, options.device
    chosen = options.data, options.count, options.seed, options.fonts
    images = [load_images(subject, *chosen) for subject in subjects]
    first, second = (
        measure(*pair, norm, METRICS, size, device) for pair in zip(subjects, images, strict=True)
    )
    rows = differences(first, second, options.seed)
    write_rows(options.out / "compare.csv", Difference, rows)
    seconds = time.monotonic() - start
    write_summary(options.out, vars(options), subjects, images[-1], seconds, n=first.images)
    page = compare_page(first, second, rows, images[-1].description)
    return write_page(page, options.out, images[-1])
