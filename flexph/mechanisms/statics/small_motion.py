"""Small motions about an equilibrium under load or a steady rotation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...bodies.ports import first_frame
from ...contacts.arrays import refuse_contacts
from ...display.labelled import Labelled, Labels, Variable
from ...display.tables import html_table, paragraph
from ...joints.rows.connection import refuse_other_laws
from ...kernels.state import Configuration, Derived, derive
from ...kernels.stiffness.stiffness_size import stiffness_size
from ...kernels.stiffness.tangent import tangent
from ...linear.eigenmodes.floquet import solve_periodic
from ...linear.eigenmodes.quadratic_spectrum import Noise, SmallMotion, Solution, solve
from ...linear.elimination import null_space
from ...numerics import checks as check
from ...numerics.arrays import Array
from ...systems.inputs import Input
from ..model.constraints import velocities_of
from ..model.state import State, configuration
from .balance import problem
from .balanced_state import is_balanced
from .equilibrium import refuse_nonholonomic
from .periodic_motion import Basis, Supports, in_any_direction
from .stability import stiffness_error
from .steady_rotation import Steady, steady_motion
from .turned_motion import refuse_unsteady
from .whirl import separated, whirl

if TYPE_CHECKING:
    from ..model.model import Model


@dataclass(frozen=True, eq=False, repr=False)
class Spectrum(Labelled):
    """Exponents s and shapes of small motions ξ(t) = Re(shape e^{st}) about an equilibrium or a steady motion.

    Attributes
    ----------
    values : array
        Exponents s (k,) [1/s], by ascending modulus of the imaginary part, then of the real part.
    shapes : array
        Complex shapes (n_v, k): displacements (δr of the centres of mass in world axes, rotation θ in body axes, δu) of
        all bodies, with largest entry 1.
    about : str
        "rest", "steady motion", or "periodic motion" for a steady rotation on anisotropic supports; s are then Floquet
        exponents, shifted to the largest harmonic of each motion.
    message : str
        Kind and stability of the motion, as a sentence.
    parts : mapping
        Slices of the parts of ``shapes``, by name.
    fixed_values : array
        Exponents (k,) [1/s] in the fixed frame, whose imaginary parts a Campbell diagram shows. For a steady rotation Ω
        they differ from ``values`` by ±iΩ, depending on the sense in which the larger part of the motion whirls, and
        are equal for motions along or about the axis.
    symmetries : tuple of str
        Symmetries of a steady motion with relative motion, such as steady rolling, which only shift it: translations,
        rotations, turns of wheels. Their exponents are not among the ``values``.
    """

    values: Array
    shapes: Array
    about: str
    message: str
    parts: Mapping[str, slice]
    fixed_values: Array
    symmetries: tuple[str, ...] = ()

    def __repr__(self) -> str:
        span = self.frequencies[[0, -1]] if len(self.frequencies) else ()
        band = ", {:.4g} to {:.4g} rad/s".format(*span) if len(span) else ""
        return f"<Spectrum about {self.about}: {len(self.values)} values{band}>"

    def _repr_html_(self) -> str:
        """HTML for notebooks: the message, and a table of the exponents with their frequencies."""
        upper = [s for s in self.values if s.imag >= 0.0]  # the others are conjugate to these
        rows = [(_exponent(s), float(s.imag), float(-s.real / abs(s) if s else 0.0) + 0.0) for s in upper]
        head = ("s [1/s]", "frequency [rad/s]", "damping ratio")
        return paragraph(self.message) + html_table(head, rows, title=f"Spectrum about {self.about}")

    def _labels(self) -> Labels:
        entries = [f"{name} {i}" for name, at in self.parts.items() for i in range(at.stop - at.start)]
        coordinates = {
            "motion": Variable(("motion",), np.arange(len(self.values)), "", "number of the small motion"),
            "displacement": Variable(("displacement",), np.array(entries, dtype=str), "", "entry of the shape"),
        }
        variables = {
            "values": Variable(("motion",), self.values, "1/s", "exponent s of e^(st)"),
            "fixed_values": Variable(("motion",), self.fixed_values, "1/s", "exponent in the fixed frame"),
            "frequency": Variable(("motion",), np.abs(self.values.imag), "rad/s", "frequency |Im s|"),
            "shapes": Variable(("motion", "displacement"), self.shapes.T, "", "shape of the motion, largest entry 1"),
        }
        return Labels("motion", variables, coordinates, {"about": self.about, "message": self.message})

    @property
    def frequencies(self) -> Array:
        """Angular frequencies: imaginary parts of the exponents that are positive, ascending, (n,) [rad/s]."""
        return np.sort(self.values.imag[self.values.imag > 0.0])

    def part(self, name: str) -> Array:
        """Rows (n, k) of the k shapes that belong to one part of the state, e.g. ``beam.deformation``."""
        return self.shapes[check.lookup("part", name, self.parts)]


def _exponent(s: complex) -> str:
    """Text of an exponent s [1/s]: real part ± imaginary part, or the real part alone if s is real."""
    return f"{s.real + 0.0:.4g} ± {s.imag:.4g} i" if s.imag else f"{s.real + 0.0:.4g}"


class AtRest(NamedTuple):
    """Equations of the small motions ξ = P η that the joints allow about rest or a steady rotation; dense.

    ``basis`` is P (n_v, n). ``later`` gives the steady motion at later times; it is None at rest.
    """

    c: Configuration
    d: Derived
    basis: Array
    steady: Steady
    motion: SmallMotion
    later: Basis | None


def small_motion(mechanism: Model, state: State, inputs: Mapping[str, Input]) -> AtRest:
    """Equations of small motions about a state, with mass, gyroscopic, damping and stiffness matrices.

    Raises ValueError unless the state is in equilibrium or in a steady rotation under the inputs.
    """
    a, c = mechanism.network.arrays, configuration(mechanism, state.x)
    moves = bool(np.any(velocities_of(mechanism, c)))
    if moves:
        refuse_nonholonomic(mechanism, "mechanism.linearize at a state that moves")
    d, steady = derive(a, c), steady_motion(mechanism, state)
    given = problem(mechanism, state.anchors, state.time, inputs=inputs, steady=steady)
    refuse_unsteady(given, c)
    G = given.constraints(c)
    basis = null_space(G, mechanism.constraint_names)[0].toarray() if G.shape[0] else np.eye(G.shape[1])
    left = given.unbalanced(c, state.multipliers)
    _refuse_unbalanced(mechanism, c, left, G.T @ state.multipliers, spin=steady.spin)
    forces = given.forces(c, state.multipliers)
    t = tangent(a, c, d, forces, spin=steady.spin)
    every, whole = in_any_direction(a), stiffness_size(a, c, d, forces, spin=steady.spin)
    size = stiffness_error(given, c, whole, left)
    mass, gyroscopic, damping, stiffness = (basis.T @ (matrix @ basis) for matrix in t)
    turned = Basis(given, c, G.T @ state.multipliers, basis, every @ whole @ every) if moves else None
    return AtRest(
        c, d, basis, steady, SmallMotion(mass, gyroscopic, damping, stiffness, Noise(size, basis)), later=turned
    )


def _refuse_unbalanced(mechanism: Model, c: Configuration, left: Array, joints: Array, *, spin: Array) -> None:
    if not is_balanced(mechanism, c, left, np.maximum(np.abs(joints), np.abs(left + joints)), spin=spin):
        raise ValueError(
            "the state must be an equilibrium with its joint forces, see mechanism.equilibrium(pose, ...), and needs "
            f"the inputs= of that call: a force of {np.abs(left).max():.2g} is not balanced"
        )


def spectrum(mechanism: Model, state: State, inputs: Mapping[str, Input]) -> Spectrum:
    """Implementation of :meth:`flexph.Mechanism.spectrum`."""
    refuse_contacts(mechanism.connections, "mechanism.spectrum", has_curves=True, at_rest=True)
    refuse_other_laws(mechanism, "mechanism.spectrum", takes_flows=True)
    small = small_motion(mechanism, state, inputs)
    periodic = small.later is not None and small.later.changes(Supports(small.motion.damping, small.motion.stiffness))
    solution = _periodic(small) if periodic else solve(small.motion)
    order = np.lexsort((np.abs(solution.values.real), np.abs(solution.values.imag).round(12)))
    values, shapes = solution.values[order], small.basis @ solution.shapes[:, order]
    turns, a, at = bool(np.any(small.steady.spin)), mechanism.network.arrays, (small.c, small.d)
    if turns:
        shapes = separated(a, at, small.steady.spin, values, shapes)
    top = np.take_along_axis(shapes, np.abs(shapes).argmax(axis=0)[None], axis=0)
    shapes = shapes / np.where(top == 0.0, 1.0, top)
    return Spectrum(
        values=values,
        shapes=shapes,
        about=("periodic motion" if periodic else "steady motion") if turns else "rest",
        message=_message(small.steady, solution, periodic=periodic),
        parts=shape_parts(mechanism),
        fixed_values=values + 1j * whirl(a, at, small.steady.spin, shapes) if turns else values,
    )


def _periodic(small: AtRest) -> Solution:
    """Floquet exponents and shapes of small motions about a steady rotation on anisotropic supports.

    Raises ValueError for a motion without a period.
    """
    assert small.later is not None
    if not np.any(small.steady.spin):
        raise ValueError(
            "a translation along supports that change has no period, and so no spectrum: integrate the motion"
        )
    own = small.motion
    motion = small.later.sampled(*own[:2], Supports(*own[2:4]))
    solution = solve_periodic(motion)
    return Solution(solution.values, solution.shapes, *solution.growth(motion.period))


def _message(steady: Steady, solution: Solution, *, periodic: bool) -> str:
    verdict = "no growing motion" + (f" above {solution.uncertain:.1g} 1/s" if solution.uncertain else "")
    if solution.growth:
        verdict = f"unstable: grows with {solution.growth:.4g} 1/s"
    if not np.any(steady.spin):
        return f"small motions about rest ({verdict})"
    turn = float(np.linalg.norm(steady.spin))
    kind = "complex spectrum of a gyroscopic system"
    if periodic:
        kind = "Floquet exponents (up to multiples of i times the spin), as the supports are anisotropic"
    return (
        f"small motions about a steady rotation with {turn:.6g} rad/s, in the frame that turns with it: {kind} "
        f"({verdict})"
    )


def shape_parts(mechanism: Model) -> dict[str, slice]:
    """Slices of the entries of a shape by name: ``body.centre``, ``body.turn`` and ``body.deformation``."""
    cv, cw, cu = mechanism.network.arrays.columns
    parts: dict[str, slice] = {}
    at = int(cu[0]) if cu.size else 0
    for name, body in mechanism.bodies.items():
        first = first_frame(name, mechanism.bodies)
        last = first + len(body.frames) - 1
        parts[f"{name}.centre"] = slice(int(cv[first, 0]), int(cv[last, -1]) + 1)
        if body.turning:
            turned = first + body.turning - 1
            parts[f"{name}.turn"] = slice(int(cw[first, 0]), int(cw[turned, -1]) + 1)
        if body.size:
            parts[f"{name}.deformation"] = slice(at, at + body.size)
            at += body.size
    return parts
