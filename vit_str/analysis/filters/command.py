"""``vit-str analyze filters``: what the first layer looks for."""

import argparse
import time

from vit_str.analysis.arguments import add_images, add_models


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of this question."""
    add_models(parser)
    add_images(parser)


def run(options: argparse.Namespace) -> int:
    """Measure the filters of every model and the patches of the images; write tables and a page."""
    from vit_str.analysis.filters.measure import Components, PatchCovariance, first_filters
    from vit_str.analysis.filters.page import Bank, components_table, filters_page, means_table
    from vit_str.analysis.images import batches_of, load_images
    from vit_str.analysis.results import write_page, write_summary
    from vit_str.analysis.subjects import load_subjects
    from vit_str.pages.tables import write_csv

    start = time.monotonic()
    subjects = load_subjects(options.models, options.seed)
    banks = []
    for subject in subjects:
        filters = first_filters(subject.recognizer.encoder)
        banks.append(Bank(subject.name, filters, Components.of_filters(filters)))
    covariances = {bank.size: PatchCovariance(bank.size) for bank in banks}
    first = subjects[0]
    images = load_images(first, options.data, options.count, options.seed, options.fonts)
    for _, batch in batches_of(first, images, options.batch_size, options.device):
        for covariance in covariances.values():
            covariance.update(batch)
    patches = {size: covariance.components() for size, covariance in covariances.items()}
    counts = {f"{size[0]} x {size[1]}": each.patches for size, each in covariances.items()}
    write_csv(options.out / "components.csv", *components_table(banks, patches))
    write_csv(options.out / "filters.csv", *means_table(banks, patches))
    seconds = time.monotonic() - start
    write_summary(options.out, vars(options), subjects, images, seconds, patches=counts)
    return write_page(filters_page(banks, patches, images.description), options.out, images)
