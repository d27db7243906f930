"""Constraints of Nastran files: RBE2 and RBE3 as couplings; unsupported constraints with their grid points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from ...numerics.arrays import Array
from ..contents import Coupling, LeftOut
from .cards import Card, real

GRIDS = {
    **dict.fromkeys(("RBAR", "RBAR1", "RROD"), (1, 2)),
    **dict.fromkeys(("CELAS1", "CELAS2", "CDAMP1", "CDAMP2", "CMASS1", "CMASS2"), (2, 4)),
    **dict.fromkeys(("CELAS3", "CELAS4", "CDAMP3", "CDAMP4", "CBUSH", "CBUSH1D", "CGAP", "CVISC"), (2, 3)),
    "CONM1": (1,),
    "CONM2": (1,),
}
"""Fields with grid points, from 0 for the first after the name."""
MOST = 1_000_000
"""Largest number of grid points in a range."""
TRANSLATIONS = set("123")


@dataclass
class Constraints:
    """Constraints of a deck: ``couplings`` by name, and unsupported parts ``left_out``.

    ``numbers`` (n,), ascending, and ``points`` (n, 3) of the grid points; ``body`` (k,): indices of the points that
    cells of the body use. ``hung``: indices of points that move with a reference point, by its number.
    """

    numbers: Array
    points: Array
    body: Array
    couplings: dict[str, Coupling] = field(default_factory=dict)
    left_out: list[LeftOut] = field(default_factory=list)
    hung: dict[int, Array] = field(default_factory=dict)

    def add(self, card: Card, changes: Literal["mass", "stiffness"]) -> None:
        """Add an RBE2 or RBE3 card as a coupling if it is supported, and any other card as an unsupported part.

        ``changes`` is the effect on the body if a card other than RBE2 and RBE3 is ignored.
        """
        if card.name == "RBE2":
            self._add(card, "rigid", card.field(1), card.fields[3:], _defect_of_rigid(card))
        elif card.name == "RBE3":
            grids, weights, defect = _mean_grids(card)
            self._add(card, "mean", card.field(2), grids, defect, weights)
        else:
            self.left_out.append(LeftOut(card.name, card.place, changes, "", self.reach(card)))

    def reach(self, card: Card) -> Array | None:
        """Indices (k,) of the points on which a card acts: its grid points, or the points that are coupled to these.

        None if one of the grid points is unknown.
        """
        reached = [self._reached(card.field(k)) for k in GRIDS.get(card.name, ()) if card.field(k) not in ("", "0")]
        known = [points for points in reached if points is not None]
        return np.unique(np.concatenate(known)) if known and len(known) == len(reached) else None

    def _reached(self, word: str) -> Array | None:
        if not word.isdecimal():
            return None
        row = self._rows([word])
        in_body = row is not None and np.isin(row, self.body).all()
        return row if in_body else self.hung.get(int(word))

    def _rows(self, words: list[str]) -> Array | None:
        """Indices of the grid points whose numbers are ``words``; None if one of them is not in the file."""
        numbers = np.array([int(word) for word in words if word.isdecimal()], dtype=int)
        rows = np.searchsorted(self.numbers, numbers)
        known = rows < len(self.numbers)
        if len(numbers) != len(words) or not known.all() or np.any(self.numbers[rows] != numbers):
            return None
        return rows

    def _add(
        self,
        card: Card,
        how: Literal["rigid", "mean"],
        reference: str,
        grids: list[str],
        defect: str,
        weights: Sequence[float] = (),
    ) -> None:
        words = _listed(grids)
        rows, at = self._rows(words), self._rows([reference])
        if rows is None or at is None or not len(rows):
            self.left_out.append(LeftOut(card.name, card.place, "stiffness", "grid points that are not in the file"))
            return
        points, owner = np.unique(rows, return_inverse=True)
        self.hung[int(reference)] = points
        name = f"{card.name} {card.field(0)}"
        if not defect and np.isin(at, self.body).any():
            defect = "its reference point is one of the body"
        if not defect and not np.isin(points, self.body).all():
            defect = "it reaches beyond the body"
        if defect:
            reach = np.union1d(points, at[np.isin(at, self.body)])
            self.left_out.append(LeftOut(card.name, card.place, "stiffness", defect, reach))
            return
        place = tuple(self.points[at[0]].tolist())
        shares = np.bincount(owner.ravel(), weights) if len(weights) else None
        self.couplings[name] = Coupling(name, how, name, points, place, card.name, card.place, shares)
        if how == "rigid":
            why = f"{name!r} is rigid"
            self.left_out.append(LeftOut(card.name, card.place, "stiffness", why, points, port=name))

    def sets(self) -> Mapping[str, Array]:
        """Indices of the coupled points in the mesh, by name of the coupling."""
        return {name: coupling.points for name, coupling in self.couplings.items()}


def _defect_of_rigid(card: Card) -> str:
    return "" if set(card.field(2)) >= TRANSLATIONS else f"components {card.field(2) or 'none'}"


def _listed(words: list[str]) -> list[str]:
    """Numbers of grid points in the fields ``words`` of a card, with ranges 'a THRU b' expanded.

    The list ends before a number with a decimal point or one of UM, ALPHA and TREF. Raises ValueError for ranges that
    descend or are too long.
    """
    held = [word.upper() for word in words if word]
    listed: list[str] = []
    for k, word in enumerate(held):
        if "." in word or word in ("UM", "ALPHA", "TREF"):
            break
        if word == "THRU":
            continue
        if k > 1 and held[k - 1] == "THRU" and word.isdecimal() and listed[-1].isdecimal():
            if not 0 <= int(word) - int(listed[-1]) <= MOST:
                raise ValueError(f"THRU must go from a lower to a higher number, got {listed[-1]} THRU {word}")
            listed += [str(n) for n in range(int(listed[-1]) + 1, int(word) + 1)]
        else:
            listed.append(word)
    return listed


def _mean_grids(card: Card) -> tuple[list[str], list[float], str]:
    """Grid points of an RBE3 card, their weights, and the reason if it is no weighted mean, else an empty text."""
    weights, components, groups = list[float](), set[str](), list[list[str]]()
    words, k = [word.upper() for word in card.fields[4:] if word], 0
    while k < len(words) and words[k] not in ("UM", "ALPHA", "TREF"):
        if words[k].isdecimal() or words[k] == "THRU":
            if not groups:
                raise ValueError(f"{card} must have a weight before its grid points, got {words[k]!r}")
            groups[-1].append(words[k])
            k += 1
        else:
            try:
                weights.append(real(words[k]))
            except ValueError:
                raise ValueError(f"{card} must have weights and grid points, got {words[k]!r}") from None
            components.add(words[k + 1] if k + 1 < len(words) else "")
            groups.append([])
            k += 2
    listed = [_listed(group) for group in groups]
    grids = [word for group in listed for word in group]
    each = [weight for weight, group in zip(weights, listed, strict=True) for _ in group]
    if not set(card.field(3)) >= TRANSLATIONS:  # its rotation may be free: a port has it, for joints that take it
        return grids, each, f"components {card.field(3) or 'none'} of its reference point"
    if not all(weight > 0.0 for weight in weights):
        return grids, each, "weights are not positive"
    return (
        grids,
        each,
        "" if all(set(component) >= TRANSLATIONS for component in components) else "not all translations",
    )
