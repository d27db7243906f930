"""Control of step sizes from error estimates."""

from __future__ import annotations

from dataclasses import dataclass

from ...numerics import checks as check


class StepTooSmall(ArithmeticError):
    """Control asked for a step below the smallest one allowed; ``step`` is what it asked for [s]."""

    def __init__(self, step: float, smallest: float) -> None:
        super().__init__(f"step control fell below {smallest:.2g} s")
        self.step, self.smallest = step, smallest


@dataclass(frozen=True)
class Controller:
    """A proportional-integral controller: after a step of h with error ε ∝ h^order, 1 being what is allowed,

        h ← h · safety · ε^(−0.7/order) · ε₋₁^(0.4/order)  (Gustafsson); rejected ones h · safety · ε^(−1/order),

    ε₋₁ the error of the last accepted step, within the factors ``least`` and ``most``. Steps below ``smallest`` [s]
    raise StepTooSmall. The controller keeps nothing: who calls it keeps ε₋₁.
    """

    order: float = 2.0
    safety: float = 0.9
    least: float = 0.2
    most: float = 2.0
    smallest: float = 0.0

    def __post_init__(self) -> None:
        for name in ("order", "safety", "least", "most"):
            check.positive(name, getattr(self, name))
        check.not_negative("smallest", self.smallest, "s")
        if not self.least < 1.0 <= self.most:
            raise ValueError(f"least < 1 <= most must hold, got {self.least} and {self.most}")

    def propose(self, h: float, error: float, last: float = 1.0) -> tuple[float, bool]:
        """The next step [s], and whether the one of h is accepted; an error that is no number counts as infinite."""
        accepted = error <= 1.0
        if not error < float("inf"):
            factor = self.least
        elif accepted:
            tiny = self.safety * self.most ** (-self.order / 0.3)  # errors below it change nothing
            factor = self.safety * max(error, tiny) ** (-0.7 / self.order) * max(last, tiny) ** (0.4 / self.order)
        else:
            factor = min(1.0, self.safety * error ** (-1.0 / self.order))
        proposed = h * min(self.most, max(self.least, factor))
        if proposed < self.smallest and not accepted:
            raise StepTooSmall(proposed, self.smallest)
        return max(proposed, self.smallest), accepted
