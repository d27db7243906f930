"""Scenes: parts of a mechanism at k times, with moving points, cells and fields, and energies of the run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args

import numpy as np

from ..drawing.viewers import html_of
from ..numerics import checks as check
from ..numerics.arrays import Array
from ..numerics.memo import read_only
from ..results.ledger import Ledger

FRAMES = 101
"""Largest number of times of a scene, a film or a page, unless another one is asked for."""
POINTS = 300
"""Number of times of a drawn account."""
SERIES = ("times", "stored", "work", "dissipated")
"""Names of the series of an account."""


@dataclass(frozen=True, eq=False)
class Account:
    """Stored energy, work and loss [J] of a run at k times, each as a sum from its start.

    Attributes
    ----------
    times : array
        (k,) [s].
    stored : array
        Change of the stored energy, (k,).
    work : array
        Work of ports and drives, (k,).
    dissipated : array
        Dissipated energy, (k,).
    residual : float
        Largest residual of the balance divided by the energy, :attr:`flexph.results.Ledger.largest_residual`.
    """

    times: Array
    stored: Array
    work: Array
    dissipated: Array
    residual: float

    def thinned(self, most: int = POINTS) -> Account:
        """Account at no more than ``most`` of its times, equally spaced by index."""
        rows = np.unique(np.linspace(0, len(self.times) - 1, most).round().astype(int))
        return replace(self, **{name: getattr(self, name)[rows] for name in SERIES})

    def as_lists(self) -> dict[str, Any]:
        """Numbers of the account as lists for JSON, by name, with five digits."""
        series = {name: [float(f"{value:.5g}") for value in getattr(self, name)] for name in SERIES}
        return series | {"residual": self.residual}


def account_from(lists: Mapping[str, Any]) -> Account:
    """Account from the lists that :meth:`Account.as_lists` returned."""
    return Account(residual=float(lists["residual"]), **{name: np.array(lists[name], dtype=float) for name in SERIES})


def account_of(ledger: Ledger, times: Array) -> Account:
    """Energy account of a run for its scene, from its ledger and its saved times."""
    energy = ledger.total_energy
    work, dissipated = (np.append(0.0, np.cumsum(flow)) for flow in (ledger.total_work, ledger.total_dissipation))
    return Account(np.asarray(times), energy - energy[0], work, dissipated, ledger.largest_residual)


PartKind = Literal["body", "joint", "force", "contact", "ground", "arrow"]
KINDS: tuple[PartKind, ...] = get_args(PartKind)


@dataclass(frozen=True, eq=False)
class Field:
    """Quantity at the points (k, p) or in the cells (k, c) of a part; vectors and tensors have (…, n).

    Attributes
    ----------
    unit : str
        Unit of the values.
    values : array
        (k, p) or (k, c), vectors and tensors with (…, n).
    signed : bool
        True if both signs have a meaning, as for axial stress; colours are then centred on zero.
    limits : (float, float), optional
        Smallest and largest value over all saved times of the run, including times that are not shown.
    """

    unit: str
    values: Array
    signed: bool = False
    limits: tuple[float, float] | None = None

    @property
    def extremes(self) -> tuple[float, float]:
        """Smallest and largest value of the field over the scene; widened to its ``limits`` if it has any."""
        shown = float(np.nanmin(self.values)), float(np.nanmax(self.values))
        return shown if self.limits is None else (min(shown[0], self.limits[0]), max(shown[1], self.limits[1]))


LARGEST = 1e9
"""Largest deformation, relative to the size of signs, that single-precision graphics can show."""


@dataclass(frozen=True, eq=False, repr=False)
class Part:
    """Body, joint, force element, contact, ground or arrow at k times.

    Attributes
    ----------
    name : str
        Name of the part.
    kind : str
        One of "body", "joint", "force", "contact", "ground" and "arrow".
    points : array
        Positions (k, p, 3) [m], or (1, p, 3) of a part at rest.
    cells : array
        Cells (c, n) of one type of meshio.
    cell_type : str
        Type of the cells.
    deformation : array
        Elastic part of the displacement (k, p, 3) [m], (k, 0, 3) of rigid parts.
    point_fields : mapping
        Fields at points by name.
    cell_fields : mapping
        Fields in cells by name.
    """

    name: str
    kind: PartKind
    points: Array
    cells: Array
    cell_type: str = "triangle"
    deformation: Array = field(default_factory=lambda: np.zeros((1, 0, 3)))
    point_fields: Mapping[str, Field] = field(default_factory=dict)
    cell_fields: Mapping[str, Field] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check.choice("kind", self.kind, KINDS)
        object.__setattr__(self, "point_fields", read_only(self.point_fields))
        object.__setattr__(self, "cell_fields", read_only(self.cell_fields))

    def __repr__(self) -> str:
        return f"<Part {self.name}: {self.points.shape[1]} points, {len(self.cells)} cells of type {self.cell_type}>"

    @property
    def moves(self) -> bool:
        """True if the part has its own points at each time, False if it is at rest."""
        return len(self.points) > 1

    @property
    def undeformed(self) -> Array:
        """Points without their deformation, (k, p, 3) [m], in double precision."""
        points = np.asarray(self.points, dtype=float)
        return points - self.deformation if self.deformation.shape[1] else points

    def at(self, row: int) -> Array:
        """Points (p, 3) [m] at the time with the index ``row``."""
        points: Array = self.points[row if self.moves else 0]
        return points

    def deformed(self, scale: float) -> Part:
        """Part whose deformation is multiplied by ``scale``, with its points moved accordingly."""
        if not self.deformation.shape[1]:
            return self
        return replace(
            self, points=self.points + (scale - 1.0) * self.deformation, deformation=scale * self.deformation
        )

    def mapped(self, change: Callable[[Array], Array]) -> Part:
        """Copy of the part with ``change``, such as a choice of times, applied to all arrays that depend on time."""
        changed = lambda fields: {name: replace(f, values=change(f.values)) for name, f in fields.items()}  # noqa: E731
        return replace(
            self,
            points=change(self.points) if self.moves else self.points,
            deformation=change(self.deformation) if self.deformation.shape[1] else self.deformation,
            point_fields=changed(self.point_fields),
            cell_fields=changed(self.cell_fields),
        )


@dataclass(frozen=True, eq=False, repr=False)
class Scene:
    """Parts of a mechanism at k times [s], or over the phase of a vibration [turns].

    Attributes
    ----------
    times : array
        Times (k,).
    parts : tuple of Part
        Visible parts.
    size : float
        Size of symbols [m].
    dim : int
        Dimension of the mechanism, 2 or 3.
    title : str
        Title of the scene.
    unit : str
        Unit of the times.
    scale : float
        Factor by which deformations are enlarged.
    captions : tuple of str
        Captions (k,) that replace the times, if any.
    account : Account, optional
        Energy account of the run.
    """

    times: Array
    parts: tuple[Part, ...]
    size: float
    dim: int
    title: str = ""
    unit: str = "s"
    scale: float = 1.0
    captions: tuple[str, ...] = ()
    account: Account | None = None

    def __repr__(self) -> str:
        return f"<Scene of {', '.join(part.name for part in self.parts)} at {len(self.times)} times>"

    def _repr_html_(self) -> str:
        """HTML of the interactive view, for notebooks."""
        return html_of(self)

    def deformed(self, scale: float) -> Scene:
        """Scene in which the deformations of the run are multiplied by ``scale``."""
        factor = check.not_negative("scale", scale)
        largest = max((np.abs(part.deformation).max(initial=0.0) for part in self.parts), default=0.0)
        if largest * factor > LARGEST * self.size * self.scale:
            raise ValueError(f"scale must be smaller, as deformed points are not finite, got {scale:g}")
        return replace(self, parts=tuple(p.deformed(factor / self.scale) for p in self.parts), scale=factor)

    def picked(self, rows: Sequence[int] | Array) -> Scene:
        """Scene at the times with the indices ``rows``."""
        rows = np.asarray(rows)
        captions = tuple(self.captions[row] for row in rows) if self.captions else ()
        parts = tuple(p.mapped(lambda a: a[rows]) for p in self.parts)
        return replace(self, times=self.times[rows], parts=parts, captions=captions)

    def thinned(self, frames: int) -> Scene:
        """Scene at no more than ``frames`` of its times, equally spaced by index."""
        rows = np.unique(np.linspace(0, len(self.times) - 1, frames).round().astype(int))
        return self if len(rows) == len(self.times) else self.picked(rows)

    def without(self, *kinds: PartKind) -> Scene:
        """Scene without the parts of some kinds, such as ``"arrow"``."""
        return replace(self, parts=tuple(part for part in self.parts if part.kind not in kinds))

    @property
    def bounds(self) -> Array:
        """Smallest and largest coordinates of all points over all times, (2, 3) [m]."""
        ends = [(p.points.min(axis=(0, 1)), p.points.max(axis=(0, 1))) for p in self.parts if p.points.size]
        return np.array([np.min([low for low, _ in ends], axis=0), np.max([high for _, high in ends], axis=0)])

    def field_names(self) -> dict[str, str]:
        """Names of the scalar fields at points and their units."""
        fields = [(name, f) for part in self.parts for name, f in part.point_fields.items()]
        return {name: f.unit for name, f in fields if f.values.ndim == 2}

    def limits(self, name: str) -> tuple[float, float]:
        """Smallest and largest value of the point field ``name`` in all parts, over all times of the run."""
        ends = [f.extremes for f in self._fields(name)]
        return min(low for low, _ in ends), max(high for _, high in ends)

    def is_signed(self, name: str) -> bool:
        """True if the sign of the point field ``name`` has a meaning, as for axial stress."""
        return any(f.signed for f in self._fields(name))

    def _fields(self, name: str) -> list[Field]:
        check.lookup("field", name, self.field_names())
        return [part.point_fields[name] for part in self.parts if name in part.point_fields]
