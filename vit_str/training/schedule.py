"""How far a run has come, and the learning rate there."""

from dataclasses import dataclass

from lightning.pytorch import Trainer
from lightning.pytorch.callbacks import Timer


@dataclass(frozen=True, slots=True)
class WarmupStableDecay:
    """Learning rate up, along, and down to zero (Hu et al. 2024, MiniCPM).

    While it goes along, a run can be cut, continued and given more time without knowing its end;
    the decay starts whenever the rest of the budget is the share asked for.

    Args:
        warmup_steps: steps over which it rises from 0 to the full rate.
        decay_share: last share of the run over which it falls to 0.
    """

    warmup_steps: int = 500
    decay_share: float = 0.3

    def __post_init__(self) -> None:
        if not 0 < self.decay_share <= 1:
            raise ValueError(
                f"decay_share must be above 0 and at most 1, found {self.decay_share}"
            )

    def factor(self, step: int, progress: float) -> float:
        """Share of the full learning rate.

        Args:
            step: optimizer steps done.
            progress: share of the run that is done, 0 to 1.
        """
        rising = min(1.0, (step + 1) / (self.warmup_steps + 1))
        falling = min(1.0, max(0.0, (1 - progress) / self.decay_share))
        return min(rising, falling)


def progress(trainer: Trainer) -> float:
    """Share of ``max_steps`` or of ``max_time`` that is done, whichever is further; 0 to 1.

    Time counts over all sessions of a run: the timer is part of the checkpoint.
    """
    shares = [0.0]
    if trainer.max_steps > 0:
        shares.append(trainer.global_step / trainer.max_steps)
    for callback in trainer.callbacks:  # type: ignore[attr-defined]
        if isinstance(callback, Timer) and callback.time_remaining() is not None:
            elapsed = callback.time_elapsed()
            remaining = callback.time_remaining() or 0.0
            shares.append(elapsed / max(1e-9, elapsed + remaining))
    return min(1.0, max(shares))
