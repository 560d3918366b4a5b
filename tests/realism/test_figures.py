import math
from io import BytesIO

import numpy as np
import torch
from matplotlib.figure import Figure
from PIL import Image

from vit_str.realism.figures import SHOWN, distributions, sheet
from vit_str.realism.statistics import STATISTICS


def drawn(figure: Figure) -> np.ndarray:
    file = BytesIO()
    figure.savefig(file, dpi=50)
    return np.asarray(Image.open(file).convert("L"))


def test_a_panel_for_every_statistic_and_a_line_for_every_set() -> None:
    numbers = np.random.default_rng(0)
    chosen = list(STATISTICS.values())[:5]
    sets = {name: numbers.normal(size=50) for name in ("rendered", "one", "$two")}
    figure = distributions(dict.fromkeys(chosen, sets))
    assert [axes.get_title(loc="left") for axes in figure.axes] == [each.title for each in chosen]
    assert [axes.get_xlabel() for axes in figure.axes] == [each.unit for each in chosen]
    assert all(len(axes.patches) == 3 for axes in figure.axes)
    assert [axes.patches[0].get_fill() for axes in figure.axes] == [True] * 5
    assert [axes.patches[1].get_fill() for axes in figure.axes] == [False] * 5
    assert len(np.unique(drawn(figure))) > 10


def test_statistics_that_nobody_has_and_that_are_all_the_same() -> None:
    nothing, same = np.full(3, math.nan), np.ones(3)
    figure = distributions(
        {
            STATISTICS["noise"]: {"rendered": nothing, "real": nothing},
            STATISTICS["contrast"]: {"rendered": same, "real": nothing},
        }
    )
    assert len(figure.axes) == 2
    drawn(figure)


def test_a_line_of_pictures_for_each_row_and_no_more_than_fit() -> None:
    black = torch.zeros(SHOWN + 5, 3, 16, 64, dtype=torch.uint8)
    figure = sheet([("first", black[:1]), ("second", black), ("", black)])
    drawn = [len(axes.get_images()) for axes in figure.axes]
    assert drawn == [1, *[0] * (SHOWN - 1), *[1] * (2 * SHOWN)]
    titles = [axes.get_title(loc="left") for axes in figure.axes[::SHOWN]]
    assert titles[:2] == ["first", "second"]
