"""``vit-str analyze characters``: where the decoder looked for each character, with scores."""

import argparse
import time

from vit_str.analysis.arguments import add_images, add_models, add_shown

_MOST_SHOWN = 60


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of this question."""
    add_models(parser, several=False)
    add_images(parser)
    parser.add_argument(
        "--block", type=int, metavar="N", help="of the decoder, from 1 (default: the last)"
    )
    parser.add_argument(
        "--head", type=int, metavar="N", help="of the block, from 1 (default: the mean of all)"
    )
    add_shown(parser, 12)


def run(options: argparse.Namespace) -> int:
    """Watch a model read, score where it looked, and write tables and a page."""
    from dataclasses import asdict

    from vit_str.analysis.characters.measure import Observer
    from vit_str.analysis.characters.page import characters_page
    from vit_str.analysis.characters.records import records_json, watch
    from vit_str.analysis.characters.scores import Score, Scoreboard, not_better
    from vit_str.analysis.images import load_images
    from vit_str.analysis.results import write_page, write_summary
    from vit_str.analysis.subjects import load_with_untrained
    from vit_str.devices import choose_device
    from vit_str.pages.tables import write_json, write_rows

    start = time.monotonic()
    if not 0 <= options.show <= _MOST_SHOWN:
        raise ValueError(f"--show must be from 0 to {_MOST_SHOWN}, found {options.show}")
    subject, *others = load_with_untrained(options.models[0], options.seed)
    observer = Observer(subject, others, choose_device(options.device))
    combination = observer.combination(options.block, options.head)
    images = load_images(subject, options.data, options.count, options.seed, options.fonts)
    board = Scoreboard(subject.name, [other.name for other in others], observer.grid, combination)
    records, shown = watch(observer, board, images, options.batch_size, options.show)
    rows = board.rows(options.seed)
    write_rows(options.out / "characters.csv", Score, rows)
    write_json(options.out / "characters.json", records_json(observer, board, records))
    write_summary(
        options.out,
        vars(options),
        [subject, *others],
        images,
        time.monotonic() - start,
        words=board.words,
        characters=board.characters,
        not_better_than_slices=[asdict(row) for row in not_better(rows)],
    )
    page = characters_page(board, rows, shown, records, images.description)
    return write_page(page, options.out, images)
