"""Answers of a model while heads are cut: the word that it reads, or the class that it names."""

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from vit_str.analysis.ablation.calls import Head
from vit_str.analysis.ablation.cut import HeadOutputs, without_heads
from vit_str.analysis.ablation.effects import Reading
from vit_str.analysis.subjects import Subject
from vit_str.torch_runtime.engine import generate

Images = Float[Tensor, "batch channel height width"]


@torch.no_grad()
def answer_without(
    subject: Subject,
    batches: Sequence[Images],
    labels: Sequence[str],
    cut: str,
    heads: tuple[Head, ...],
    outputs: HeadOutputs,
    by: str,
) -> Reading:
    """Read all words, greedily, or name the classes of images without some heads.

    ``by`` says what these put out instead.
    """
    answers: list[str] = []
    for images in batches:
        fill = outputs.fill(by, first=len(answers))
        with without_heads(subject.encoder, heads, fill):
            answers += _answers(subject, images)
    right = [text == label for text, label in zip(answers, labels, strict=True)]
    return Reading(cut, heads, answers, right)


def check_labels(subject: Subject, labels: Sequence[str]) -> None:
    """Refuse labels that are no numbers of classes, for a model that names these."""
    if subject.reads:
        return
    known = {f"{number}" for number in range(subject.classes)}
    wrong = [label for label in labels if label not in known]
    if wrong:
        raise ValueError(
            f"labels.tsv needs the numbers of classes of {subject.name}, 0 to "
            f"{subject.classes - 1}, found {wrong[0]!r}"
        )


def _answers(subject: Subject, images: Images) -> list[str]:
    if subject.reads:
        recognizer = subject.recognizer
        ids = generate(recognizer.decoder, recognizer.encode(images)).labels
        return list(map(subject.charset.decode, ids.tolist()))
    scores = subject.class_scores(images)
    return [f"{number}" for number in scores.argmax(-1).tolist()]
