"""How often the intervals of the lab miss the truth, and how often ``compare`` finds a difference.

    python benchmarks/interval_rates.py

Simulated, since the truth has to be known: values of images are normal, or skewed as distances and
entropies of heads are (log-normal); layers of one image are correlated. "Before" are percentiles of
1,000 resamples (Efron 1979) and intervals that leave out zero, "now" Student's t and Holm's
correction, by the functions of ``vit-str analyze`` themselves.
"""

from itertools import product

import numpy as np
import pandas as pd
import torch
from measuring import described_parser, write_json
from scipy import stats

from vit_str.analysis.compare import SIGNIFICANT, holm
from vit_str.analysis.statistics import mean_over

COUNTS = (4, 8, 16, 32, 64, 200)
LAYERS = 12
CORRELATION = 0.3
RESAMPLES = 1000
SHAPES = {"normal": 0.0, "skewed": 0.8}
"""Name -> standard deviation of the logarithm; 0 for values that are normal."""


def draw(generator: np.random.Generator, n: int, spread: float) -> np.ndarray:
    """Values of ``n`` images in every layer, whose true means are zero."""
    shared = generator.standard_normal((n, 1)) * CORRELATION**0.5
    values = shared + generator.standard_normal((n, LAYERS)) * (1 - CORRELATION) ** 0.5
    return np.exp(spread * values) - np.exp(spread**2 / 2) if spread else values


def percentiles(
    generator: np.random.Generator,
    values: np.ndarray,
) -> tuple[np.ndarray, ...]:
    """The ends of the middle 95 % of means of resamples, by layer."""
    drawn = generator.integers(len(values), size=(RESAMPLES, len(values)))
    low, high = np.percentile(values[drawn].mean(1), [2.5, 97.5], axis=0)
    return low, high


def rates(n: int, spread: float, trials: int, seed: int) -> dict[str, float]:
    """Coverage of one interval, and comparisons of equal models in which any layer differs."""
    generator = np.random.default_rng(seed)
    covered = {"before": 0.0, "now": 0.0}
    flagged = {"before": 0, "now": 0}
    for _ in range(trials):
        values = draw(generator, n, spread)
        low, high = percentiles(generator, values)
        covered["before"] += ((low <= 0) & (high >= 0)).mean()
        flagged["before"] += bool(((low > 0) | (high < 0)).any())
        mean = mean_over(torch.from_numpy(values))
        covered["now"] += float(((mean.low <= 0) & (mean.high >= 0)).double().mean())
        p = pd.Series(stats.ttest_1samp(values, 0).pvalue)
        flagged["now"] += bool((holm(p) < SIGNIFICANT).any())
    return {
        **{f"coverage {when}": value / trials for when, value in covered.items()},
        **{f"flagged {when}": count / trials for when, count in flagged.items()},
    }


def main() -> None:
    """Simulate, print and write."""
    parser = described_parser(__doc__, rounds=400)
    options = parser.parse_args()
    rows = [
        {"values": shape, "images": n, **rates(n, spread, options.rounds, seed=n)}
        for (shape, spread), n in product(SHAPES.items(), COUNTS)
    ]
    table = pd.DataFrame(rows)
    print(table.to_string(index=False, float_format="{:.3f}".format))
    write_json(options.json, rows)


if __name__ == "__main__":
    main()
