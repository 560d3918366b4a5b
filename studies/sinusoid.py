"""What sinusoidal positions are good for: one of a kind, any length, the same distance."""

import torch
from jaxtyping import Float
from matplotlib.figure import Figure
from torch import Tensor

from studies.drawing import COLORS, MUTED, panels
from studies.study import Findings, Row, Settings, Study, Table, Values, Verdict
from vit_str.models.positions import sinusoidal_positions

STUDY = Study(
    posts="V",
    claim=(
        "Sinusoidal positions give every position a vector of its own, work for "
        "sequences of any length, and keep the distance between two indices the "
        "same whatever the length."
    ),
    expected=(
        "All three hold, the constant distance to rounding (1e-13): moving by k "
        "rotates each pair of sine and cosine by a fixed angle. The distance does "
        "not say which comes first, and it does not grow steadily with the offset."
    ),
    experiment=(
        "Positions of our Transformer of 2000 tokens (600 in the small version), "
        "dim 16 to 512: smallest distance of any two; for each offset k, largest "
        "minus smallest \\|PE(p+k) - PE(p)\\| over p; error of the rotation that "
        "should give PE(p+k); the same beside plain numbers p and fractions p / "
        "length. In double precision by the formula, against which the code of the "
        "models, which rounds to single precision, is compared. Nothing is random."
    ),
    correction=(
        "That the vectors exist for any length does not mean that a model works at "
        "lengths that it was not trained on. The distance is symmetric: it tells "
        "how far, not in which direction (the rotation does), and it is not "
        "monotone in the offset."
    ),
    kind="identity",
)

# A spread below this is rounding: doubles near 10 are 2e-15 apart, and a distance is a sum of
# hundreds of squares of sines of angles of up to thousands of radians.
_ROUNDING = 1e-9
# Two positions count as different when a model in single precision could tell them by far.
_DIFFERENT = 1e-3
_DIMS = (16, 64, 128, 512)
Positions = Float[Tensor, "length dim"]


def run(settings: Settings) -> Findings:
    """Measure the properties, dim by dim; nothing is random."""
    length = 600 if settings.quick else 2000
    table = Table(properties(length, dim) for dim in _DIMS)
    spread, rotation, code = (
        max(table.values(name))
        for name in ("spread", "rotation error", "code against formula")
    )
    different = min(table.values("smallest distance"))
    falls = "share of offsets where it falls"
    numbers = torch.arange(length, dtype=torch.float64)[:, None]
    half = numbers[: length // 2]
    shares = numbers / (length - 1)
    shares_of_half = half / (length // 2 - 1)
    lines = {f"sinusoidal, dim {row['dim']}": row for row in table}
    lines["number, 1 unit"] = _plain_properties(numbers, half)
    lines["fraction, 1 unit"] = _plain_properties(shares, shares_of_half)
    summary: list[Row] = [
        {
            "positions": name,
            "smallest distance": f"{row['smallest distance']:.3g}",
            "largest value": f"{row['largest value']:.0f}",
            "spread at one offset": f"{row['spread']:.1e}",
            "same in half the length": row["same in half the length"],
        }
        for name, row in lines.items()
    ]
    return Findings(
        table=table,
        summary=summary,
        verdict=judge(
            different,
            max(spread, rotation),
            all(table.values("same in half the length")),
        ),
        measure="largest spread of the distance at one offset",
        values=Values([spread]),
        because=(
            f"No two of {length} positions are closer than {different:.2f}; values "
            "stay within 1 and a longer sequence only adds rows. The distance at an "
            f"offset differs by {spread:.1e} at most over positions, and the "
            f"rotation by k gives PE(p+k) to {rotation:.1e}. The code of the models "
            f"follows the formula to {code:.1e}."
        ),
        draw=lambda figure: _draw(figure, min(length, 600)),
        surprises={
            f"At dim {_DIMS[-1]} the distance falls from one offset to the next at "
            f"{table[-1][falls]:.0%} of the {length} offsets; at dim 2, positions "
            f"710 apart differ by {float(distance_by_offset(2, 711)[710]):.1e}.": (
                table.values(falls)[-1] > 0
            )
        },
    )


def judge(smallest: float, spread: float, is_prefix: bool) -> Verdict:
    """Supported if all three properties hold, partly if some do."""
    return Verdict.of(smallest > _DIFFERENT, is_prefix, spread < _ROUNDING)


def frequencies(dim: int) -> Float[Tensor, " half"]:
    """Radians per position, one for each pair of sine and cosine (Vaswani et al. 2017, 3.5)."""
    return 10_000 ** (-torch.arange(0, dim, 2, dtype=torch.float64) / dim)


def exact_positions(length: int, dim: int) -> Positions:
    """The formula in double precision, sine and cosine in turns."""
    angles = torch.arange(length, dtype=torch.float64)[:, None] * frequencies(dim)
    return torch.stack([angles.sin(), angles.cos()], -1).flatten(1)


def properties(length: int, dim: int) -> Row:
    """What the claim is about, for one width."""
    exact = exact_positions(length, dim)
    code = sinusoidal_positions(length, dim)
    # Without the product of matrices that is faster and rounds: small distances would be noise.
    distances = torch.cdist(exact, exact, compute_mode="donot_use_mm_for_euclid_dist")
    by_offset = [distances.diagonal(offset) for offset in range(1, length)]
    smallest = [float(at_offset.min()) for at_offset in by_offset]
    curve = distance_by_offset(dim, length)
    return {
        "dim": dim,
        "length": length,
        "smallest distance": min(smallest),
        "at offset": smallest.index(min(smallest)) + 1,
        "largest value": float(exact.abs().max()),
        # The last diagonals have few entries, and one entry has no spread: half are enough.
        "spread": max(float(at.max() - at.min()) for at in by_offset[: length // 2]),
        "rotation error": rotation_error(exact),
        "same in half the length": all(
            torch.equal(sinusoidal_positions(shorter, dim), code[:shorter])
            for shorter in (1, 10, length // 2)
        ),
        "share of offsets where it falls": float(
            (curve[2:] < curve[1:-1]).double().mean()
        ),
        "code against formula": float((code.double() - exact).abs().max()),
    }


def distance_by_offset(dim: int, length: int) -> Float[Tensor, " length"]:
    """|PE(p+k) - PE(p)| for k = 0, 1, ...: the root of the sum of 4 sin²(k frequency / 2)."""
    angles = torch.arange(length, dtype=torch.float64)[:, None] * frequencies(dim)
    return (2 * (angles / 2).sin()).norm(dim=1)


def rotation_error(positions: Positions) -> float:
    """How far PE(p), turned pair by pair by k times the frequency, is from PE(p+k) at most."""
    points = torch.complex(positions[:, 1::2], positions[:, ::2])
    worst = 0.0
    for offset in (1, 7, len(positions) // 10, len(positions) // 2):
        turn = torch.exp(1j * offset * frequencies(positions.shape[1]))
        errors = points[:-offset] * turn - points[offset:]
        worst = max(worst, float(torch.view_as_real(errors).abs().max()))
    return worst


def _plain_properties(positions: Positions, of_half: Positions) -> Row:
    """Plainer positions of one number, in the whole length and in half of it."""
    steps = positions.diff(dim=0)
    return {
        "smallest distance": float(steps.min()),
        "largest value": float(positions.max()),
        "spread": float(steps.max() - steps.min()),
        "same in half the length": torch.equal(of_half, positions[: len(of_half)]),
    }


def _draw(figure: Figure, length: int) -> None:
    left, right = panels(figure, ("Distance by offset", "Product by offset"))
    for dim, color in zip(_DIMS, COLORS, strict=False):
        # Divided by the norm, so that widths can be compared.
        curve = distance_by_offset(dim, length) / (dim / 2) ** 0.5
        left.plot(curve.tolist(), color=color, linewidth=1, label=f"dim {dim}")
    left.set(
        xlabel="offset k (positions)", ylabel="|PE(p+k) − PE(p)| / |PE(p)|", ylim=0
    )
    left.legend(loc="lower right", ncols=2)
    exact = exact_positions(201, 128)
    products = exact @ exact[100] / (exact[100] @ exact[100])
    right.plot(range(-100, 101), products.tolist(), color=COLORS[2])
    right.axvline(0, color=MUTED, linewidth=1, linestyle=":")
    right.set(
        xlabel="offset k (positions)",
        ylabel="PE(p+k) · PE(p) / |PE(p)|², dim 128",
    )
