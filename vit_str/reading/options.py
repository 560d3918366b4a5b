"""Options that say which model reads, and how; several commands have them."""

import argparse
from typing import TYPE_CHECKING

from vit_str.console import add_batch_size, add_device, positive

if TYPE_CHECKING:
    from vit_str.reading.pages.reader import PageReader
    from vit_str.runtime import Search


def add_reader_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the model, which texts it may read, and ``--batch-size`` and ``--workers``."""
    add_model_arguments(parser)
    add_batch_size(parser)
    parser.add_argument(
        "--workers",
        type=positive,
        metavar="N",
        help="threads that decode images (default: as --threads, 4 at most); with --engine ray, "
        "processes that read (default: one per GPU, or else per CPU)",
    )
    choice = parser.add_argument_group(
        "what may be read",
        "Confidence is then among what is allowed; jsonl has the free reading too.",
    )
    choice.add_argument("--lexicon", metavar="FILE", help="only the words in it, one a line")
    choice.add_argument(
        "--pattern",
        metavar="REGEX",
        help="only what it matches as a whole, such as '[A-Z]{2}[0-9]+'",
    )
    choice.add_argument("--alphabet", metavar="CHARACTERS", help="only these, such as 0123456789")
    choice.add_argument(
        "--language",
        metavar="CODES|FILE",
        help="whose words to expect where the image leaves doubts: en, en+fr, a file of words, or "
        "none for serial numbers and codes (default: the languages of the model; none with a "
        "lexicon, pattern or alphabet)",
    )
    choice.add_argument(
        "--beams",
        type=positive,
        metavar="N",
        help="texts to keep while writing (default: 1; 5 with a lexicon or a pattern)",
    )


def add_model_arguments(parser: argparse.ArgumentParser) -> None:
    """Add ``--model``, ``--device``, ``--backend`` and ``--effort``."""
    parser.add_argument(
        "--model",
        default="tiny",
        metavar="NAME|FILE",
        help="weights of the package, a .safetensors file, or a folder of vit-str export "
        "(default: tiny)",
    )
    add_device(parser)
    parser.add_argument(
        "--backend",
        choices=("auto", "onnx", "onnx-int8", "torch"),
        default="auto",
        help="what computes: torch on a GPU; on a CPU onnxruntime if it can, in 8 bits where the "
        "processor is made for that (default: auto)",
    )
    parser.add_argument(
        "--effort",
        "--care",
        choices=("fast", "careful"),
        help="fast: read no doubtful image a second time, and decode in "
        "parallel if the model can (default: as the model was saved)",
    )


def search_of(options: argparse.Namespace) -> "Search":
    """What `add_reader_arguments` says about which readings to look for."""
    from vit_str.runtime import Search
    from vit_str.runtime.constraints import read_lexicon

    lexicon = None if options.lexicon is None else read_lexicon(options.lexicon)
    count = getattr(options, "n_best", 1)
    return Search(
        n_best=count,
        beams=options.beams,
        lexicon=lexicon,
        pattern=options.pattern,
        alphabet=options.alphabet,
        language=options.language,
    )


def load_page_reader(options: argparse.Namespace, model: str | None = None) -> "PageReader":
    """The page reader that the options name."""
    from vit_str.reading.pages.reader import MINIMUM_CONFIDENCE, load_page

    least = getattr(options, "min_confidence", None)
    return load_page(
        model or options.model,
        options.device,
        backend=options.backend,
        effort=options.effort,
        search=search_of(options),
        minimum_confidence=MINIMUM_CONFIDENCE if least is None else least,
    )
