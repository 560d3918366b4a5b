"""``vit-str analyze``: look into models; every question has a folder with its command."""

import argparse
import sys

from vit_str.analysis.characters import command as characters
from vit_str.analysis.compare import command as compare
from vit_str.analysis.distance import command as distance
from vit_str.analysis.filters import command as filters
from vit_str.analysis.positions import command as positions
from vit_str.analysis.receptive_field import command as receptive_field
from vit_str.analysis.relevance import command as relevance
from vit_str.analysis.rollout import command as rollout
from vit_str.analysis.similarity import command as similarity

QUESTIONS = {
    "distance": (distance, "how far every head of one model or several looks, layer by layer"),
    "compare": (compare, "the same for two models on the same images, as paired differences"),
    "characters": (characters, "where the decoder looked for each character, with scores"),
    "receptive-field": (
        receptive_field,
        "how far gradients reach: ViTs and convolutions in one unit",
    ),
    "filters": (filters, "what the first layer looks for"),
    "positions": (positions, "which positions look alike to a model"),
    "similarity": (similarity, "how alike layers are, of one model and of several (linear CKA)"),
    "rollout": (rollout, "attention multiplied through the layers"),
    "relevance": (relevance, "which tokens made the decoder write a character, by gradients"),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add a subcommand for each question."""
    parser.description = "Look into models: every question writes tables, figures and one page."
    parser.epilog = "example: vit-str analyze distance tiny untrained:tiny --out out/"
    questions = parser.add_subparsers(dest="command", metavar="QUESTION", required=True)
    for name, (command, purpose) in QUESTIONS.items():
        description = f"{purpose[0].upper()}{purpose[1:]}."
        question = questions.add_parser(
            name, help=purpose, description=description, allow_abbrev=False
        )
        command.add_arguments(question)


def run(options: argparse.Namespace) -> int:
    """Answer the question and print where the page is; returns the exit code."""
    command, _ = QUESTIONS[options.command]
    try:
        return command.run(options)
    except (ValueError, OSError) as error:
        line = " ".join(str(error).split())
        sys.stderr.write(f"vit-str analyze {options.command}: {line}\n")
        return 2
