"""``vit-str analyze relevance``: which tokens made the decoder write a character, by gradients."""

import argparse
import time

from vit_str.analysis.arguments import add_images, add_models, add_shown


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of this question."""
    add_models(parser, several=False)
    add_images(parser, count=50)
    parser.add_argument(
        "--hide",
        type=float,
        default=0.1,
        metavar="SHARE",
        help="of the tokens to paint over in the test whether the model minds (0.1)",
    )
    add_shown(parser, 4)


def run(options: argparse.Namespace) -> int:
    """Ask a model by every method why it wrote what it wrote, and write a table and a page."""
    from vit_str.analysis.images import batches_of, load_images
    from vit_str.analysis.map_sheet import MappedWord, mapped_words
    from vit_str.analysis.relevance.methods import MethodScore
    from vit_str.analysis.relevance.page import relevance_page
    from vit_str.analysis.relevance.scores import MethodScores
    from vit_str.analysis.results import write_page, write_summary
    from vit_str.analysis.subjects import load_with_untrained
    from vit_str.pages.tables import write_csv

    start = time.monotonic()
    if not 0 < options.hide <= 1:
        raise ValueError(f"--hide must be above 0 and at most 1, found {options.hide}")
    subjects = load_with_untrained(options.models[0], options.seed)
    subject = subjects[0]
    images = load_images(subject, options.data, options.count, options.seed, options.fonts)
    scores = MethodScores(subjects, options.hide)
    words: list[MappedWord] = []
    batches = batches_of(subject, images, options.batch_size, options.device)
    for index, (batch, pixels) in enumerate(batches):
        labels = subject.recognizer.generate(pixels).labels
        maps = scores.add(batch, pixels, labels, options.seed + index)
        texts = [subject.charset.decode(ids) for ids in labels.tolist()]
        missing = max(0, options.show - len(words))
        words += mapped_words(batch.names, batch.pixels, texts, maps)[:missing]
    means = scores.means(options.seed)
    write_csv(options.out / "relevance.csv", MethodScore._fields, means)
    write_summary(options.out, vars(options), subjects, images, time.monotonic() - start)
    page = relevance_page(subject.name, means, words, images.description, options.hide)
    return write_page(page, options.out, images)
