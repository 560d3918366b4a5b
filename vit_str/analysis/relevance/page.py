"""The answer of ``vit-str analyze relevance``."""

from vit_str.analysis.images import batches_of, progress_bar
from vit_str.analysis.map_sheet import CAUTION, MappedWord, map_sheet, mapped_words
from vit_str.analysis.relevance.figures import scores_by_method
from vit_str.analysis.relevance.scores import MethodScore, MethodScores
from vit_str.analysis.results import Inspection

_LEAD = """\
Which tokens of the image made the decoder write a character: attention weighted by its gradients \
and carried through encoder and decoder (relevance, Chefer et al. 2021), next to plain \
cross-attention, rollout and the gradient of the image."""

_TESTS = """\
Two tests of the maps. Where characters truly are is known for rendered words: energy is the share \
of a map inside of the box of its character, lift the same over the share of the image that the \
box takes, pointing whether most of the largest token lies in the box; only words that were read \
right count. And whether the model minds: drop is by how much the probability of the character \
falls when the tokens that its map names first are painted in the mean color of the image. A map \
that is good at one test need not be good at the other."""


def answer(inspection: Inspection, share: float, show: int) -> int:
    """Ask a model by every method why it wrote what it wrote, and write a table and a page.

    Args:
        inspection: the model, and the same without training.
        share: of the tokens to hide.
        show: words to draw.
    """
    subject, images = inspection.subjects[0], inspection.load(inspection.subjects[0])
    scores = MethodScores(inspection.subjects, share)
    words: list[MappedWord] = []
    with progress_bar(subject, images) as bar:
        batches = batches_of(subject, images, *inspection.how, bar)
        for seed, (batch, pixels) in enumerate(batches, inspection.seed):
            labels = subject.recognizer.generate(pixels).labels
            maps = scores.add(batch, pixels, labels, seed, bar)
            texts = [subject.charset.decode(ids) for ids in labels.tolist()]
            missing = max(0, show - len(words))
            words += mapped_words(batch.names, batch.pixels, texts, maps)[:missing]
    means = scores.means(inspection.seed)
    inspection.write_table("relevance.csv", MethodScore._fields, means)
    page = inspection.page("Relevance", f"{_LEAD} Asked of {subject.name}.")
    page.heading("Two tests")
    page.paragraph(_TESTS)
    page.figure(
        scores_by_method(means),
        "tests",
        "Means over words of the means over their characters, with 95 % bootstrap intervals; "
        f"{share:.0%} of the tokens are hidden for the drop.",
    )
    cells = {(m.method, m.metric): f"{m.mean:.2f} [{m.low:.2f}, {m.high:.2f}]" for m in means}
    methods, metrics = (list(dict.fromkeys(key[i] for key in cells)) for i in (0, 1))
    rows = [[method, *(cells.get((method, name)) for name in metrics)] for method in methods]
    caption = "Means with 95 % intervals over the words of the figure"
    page.table(["method", *metrics], rows, caption)
    if words:
        page.heading("Word by word")
        page.note(CAUTION)
        page.figure(
            map_sheet(words),
            "words",
            f"{subject.name}: maps of the characters that it read; dark is the most of each map.",
        )
    return inspection.finish(page)
