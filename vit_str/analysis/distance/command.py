"""``vit-str analyze distance``: how far the heads of one model or several look."""

import argparse
import time

from vit_str.analysis.arguments import add_images, add_models, add_norm


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of this question."""
    add_models(parser)
    add_images(parser)
    add_norm(parser)
    parser.add_argument(
        "--gradients",
        type=int,
        default=16,
        metavar="N",
        help="images on which to measure gradient distance too, the yardstick that convolutions "
        "have as well (16; 0 for none)",
    )


def run(options: argparse.Namespace) -> int:
    """Measure every model on the same images and write tables and a page."""
    from vit_str.analysis.distance.measure import attends, chance, measure, measurements
    from vit_str.analysis.distance.page import add_gradients, add_training, distance_page
    from vit_str.analysis.images import load_images
    from vit_str.analysis.receptive_field.gradients import (
        gradient_measurements,
        measure_gradients,
        uniform_gradient_distance,
    )
    from vit_str.analysis.results import Measurement, write_page, write_summary
    from vit_str.analysis.statistics import METRICS
    from vit_str.analysis.subjects import load_subjects
    from vit_str.pages.tables import write_rows

    start = time.monotonic()
    subjects = load_subjects(options.models, options.seed)
    how = options.batch_size, options.device
    analyses = []
    for subject in [subject for subject in subjects if attends(subject)] or subjects:
        images = load_images(subject, options.data, options.count, options.seed, options.fonts)
        analyses.append(measure(subject, images, options.norm, METRICS, *how))
    rows = [row for analysis in analyses for row in measurements(analysis, options.seed)]
    gradients: list[Measurement] = []
    for subject in subjects if options.gradients > 0 else []:
        count = min(options.count, options.gradients)
        few = load_images(subject, options.data, count, options.seed, options.fonts)
        fields = measure_gradients(subject, few, 4, options.seed, *how)
        gradients += gradient_measurements(
            subject.name, fields, ["gradient_distance"], options.seed
        )
    seconds = time.monotonic() - start
    lines = {analysis.model: chance(analysis.grid) for analysis in analyses}
    write_rows(options.out / "distance.csv", Measurement, [*rows, *gradients])
    write_summary(
        options.out,
        vars(options),
        subjects,
        images,
        seconds,
        n=analyses[0].images,
        chance=lines,
        sinks={analysis.model: analysis.statistics.sinks() for analysis in analyses},
    )
    page = distance_page(analyses, rows, lines, images.description)
    if gradients:
        add_gradients(page, gradients, uniform_gradient_distance(subjects[0].recognizer.encoder))
    trained_on = {subject.name: subject.images for subject in subjects if subject.images}
    add_training(page, rows, trained_on, next(iter(lines.values())))
    return write_page(page, options.out, images)
