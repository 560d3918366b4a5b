"""``vit-str analyze receptive-field``: how far gradients reach, in one unit for all models."""

import argparse
import time

from vit_str.analysis.arguments import add_images, add_models


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of this question."""
    add_models(parser)
    add_images(parser, count=100)
    parser.add_argument(
        "--queries", type=int, default=4, metavar="N", help="tokens of each image to ask (4)"
    )


def run(options: argparse.Namespace) -> int:
    """Measure every model on the same images and write tables and a page."""
    from vit_str.analysis.images import load_images
    from vit_str.analysis.receptive_field.gradients import (
        gradient_measurements,
        measure_gradients,
        uniform_gradient_distance,
    )
    from vit_str.analysis.receptive_field.page import (
        ModelFields,
        bounds_table,
        receptive_field_page,
    )
    from vit_str.analysis.receptive_field.windows import fields_by_layer
    from vit_str.analysis.results import Measurement, write_page, write_summary
    from vit_str.analysis.subjects import load_subjects
    from vit_str.pages.tables import write_csv, write_rows

    start = time.monotonic()
    subjects = load_subjects(options.models, options.seed)
    how = options.queries, options.seed, options.batch_size, options.device
    models, rows = [], []
    for subject in subjects:
        images = load_images(subject, options.data, options.count, options.seed, options.fonts)
        fields = measure_gradients(subject, images, *how)
        bounds = fields_by_layer(subject.recognizer.encoder)
        models.append(ModelFields(subject.name, bounds, fields))
        rows += gradient_measurements(subject.name, fields, seed=options.seed)
    write_rows(options.out / "gradient_distance.csv", Measurement, rows)
    write_csv(options.out / "theoretical.csv", *bounds_table(models))
    seconds = time.monotonic() - start
    chance = {"uniform": uniform_gradient_distance(subjects[0].recognizer.encoder)}
    n = models[0].fields.seen
    write_summary(options.out, vars(options), subjects, images, seconds, n=n, chance=chance)
    page = receptive_field_page(models, rows, chance, images.description)
    return write_page(page, options.out, images)
