"""Bodies divided into several floating ones that are welded together under one name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.arrays import Array, sparse_block_diag, widened
from ..numerics.memo import Memo, WithRecipe, once, read_only
from .body import Body, NodalLoad, Port
from .elasticity import ElasticEnergy
from .fields import SectionMap, View


@dataclass(frozen=True, eq=False, repr=False)
class SplitBody(WithRecipe, Memo):
    """Body divided into floating bodies along its x axis, with parallel axes when undeformed.

    Its states are those of all frames, concatenated: ``blade.centre`` (dN,), ``blade.rotation``, ``blade.stress`` etc.
    Directions of joints at its ports are given in the axes of the undeformed body, and turn with the port's frame.

    Parameters
    ----------
    frames : tuple of Body
        Floating bodies with different port names.
    places : array
        Origins of the frames (N, d) [m] in the axes of the undeformed body, ascending in x.
    joints : tuple
        Pairs of welded ports.
    loads : mapping
        Load ports by name, as maps of the coordinates u of all frames.
    view : View, optional
        Geometry for pictures and export, as a map of u of all frames.
    """

    frames: tuple[Body, ...]
    places: Array
    joints: tuple[tuple[str, str], ...]
    loads: Mapping[str, NodalLoad]
    view: View | None = None
    remedy: ClassVar[str] = "made by fem.beam(..., split=n)"

    turns: ClassVar[bool] = True
    unshifted: ClassVar[None] = None
    mass_factor: ClassVar[None] = None
    scheduled_laws: ClassVar[tuple[()]] = ()
    whole: ClassVar[None] = None
    flow: ClassVar[None] = None
    sections: ClassVar[Mapping[str, SectionMap]] = {}

    def __post_init__(self) -> None:
        object.__setattr__(self, "loads", read_only(self.loads))
        names = [name for frame in self.frames for name in frame.ports]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"ports must have different names, got {name!r} twice")

    def __repr__(self) -> str:
        count = f"{len(self.frames)} frames, {self.size} flexible coordinates"
        return f"<Body of {count}: {self.mass:.6g} kg; ports {', '.join(self.ports)}>"

    @property
    def dim(self) -> int:
        """Dimension, 2 or 3."""
        return self.frames[0].dim

    @property
    def turning(self) -> int:
        """Number of frames, all of which turn."""
        return len(self.frames)

    @property
    def size(self) -> int:
        """Number of flexible coordinates of all frames."""
        return sum(frame.size for frame in self.frames)

    @property
    def stress_size(self) -> int:
        """Number of stresses of all frames."""
        return sum(frame.stress_size for frame in self.frames)

    @property
    def mass(self) -> float:
        """Total mass [kg], lumped masses included."""
        return sum(frame.mass for frame in self.frames)

    @property
    def elasticity(self) -> ElasticEnergy | None:
        """Elasticity of the first frame; all frames have elasticity of the same kind."""
        return self.frames[0].elasticity

    @once
    def ports(self) -> Mapping[str, Port]:
        """Ports of all frames, in the axes of the undeformed body and for u of all frames."""
        ports = {name: self._over_all(i, port) for i, f in enumerate(self.frames) for name, port in f.ports.items()}
        return read_only(ports)

    def _over_all(self, frame: int, port: Port) -> Port:
        wide = lambda rows: None if rows is None else widened(rows, int(self.starts[frame]), self.size)  # noqa: E731
        return Port(self.places[frame] + port.position, wide(port.shape), wide(port.rotation))

    @once
    def starts(self) -> Array:
        """Indices (N + 1,) at which the flexible coordinates of each frame begin, and their total number."""
        return np.cumsum([0, *(frame.size for frame in self.frames)])

    @once
    def centres(self) -> Array:
        """Centres of mass of the frames in the axes of the undeformed body, (N, d) [m]."""
        return self.places + np.array([frame.centre for frame in self.frames])

    @once
    def mean_shape(self) -> Any:
        """Mass means φ̄ of the shapes of all frames, sparse and block-diagonal (dN, n)."""
        return sparse_block_diag(sparse.csr_array(frame.inertia.mean_shape) for frame in self.frames)

    def node_of(self, port: str) -> int:
        """Index of the frame to which a port belongs."""
        return next(i for i, frame in enumerate(self.frames) if port in frame.ports)

    def frames_of(self, positions: Array, shape: Any) -> Array:
        """Indices (p,) of the frames to which points at ``positions`` (p, d) belong.

        A point belongs to the frame whose flexible coordinates displace it by ``shape`` (p·d, n). A point that no
        coordinate displaces belongs to the frame at its position along x.
        """
        rows = sparse.csr_array(shape)
        owner = np.searchsorted(self.places[:, 0], positions[:, 0], side="right") - 1
        moving, where = np.unique(np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr)) // self.dim, True)
        owner[moving] = np.searchsorted(self.starts, rows.indices[where], side="right") - 1
        return np.maximum(owner, 0)

    @checked
    def with_mass(self, port: str, mass: float = 0.0, inertia: float = 0.0) -> SplitBody:
        """Add a lumped mass [kg] and rotary inertia [kg m²] at a port."""
        check.lookup("port", port, self.ports)
        i = self.node_of(port)
        heavier = self.frames[i].with_mass(port, mass, inertia)
        return replace(self, frames=(*self.frames[:i], heavier, *self.frames[i + 1 :]))
