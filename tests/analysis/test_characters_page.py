import re

from vit_str.analysis.characters.page import verdict
from vit_str.analysis.characters.scores import SLICES, Score


def score(metric: str, mean: float, versus: str | None = SLICES, group: str = "all") -> Score:
    return Score("m", versus, 2, None, group, metric, "1", mean, mean - 0.1, mean + 0.1, 1200)


def test_what_is_not_better_is_said() -> None:
    text = verdict(
        [
            score("iou", 0.3),
            score("pointing", 0.05, group="length 1-3"),
            score("center_error", 0.2),
            score("monotonic", -0.3),
            score("iou", 0.0, None),
        ]
    )
    assert text.startswith("Attention does not beat equal-width slices in 2 of 3 comparisons")
    assert "pointing (length 1-3): +0.050 [−0.050, +0.150], n = 1,200" in text
    assert "error of the center, sideways (all): +0.200" in text
    assert "over union" not in text
    assert re.search("Reading direction is left aside", text)


def test_that_everything_is_better_is_said_too() -> None:
    text = verdict([score("iou", 0.3), score("drift", -0.3), score("monotonic", 0.0)])
    assert text.startswith("Attention beats equal-width slices in all 2 comparisons")
