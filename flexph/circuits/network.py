"""Circuits: elements between nodes, and the port-Hamiltonian systems that they make."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ..dirac.structure import DiracStructure
from ..dirac.system import PortHamiltonian
from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.arrays import Array
from ..numerics.memo import once
from ..switching import SwitchingPHDAE, SwitchingTrajectory
from ..systems.inputs import Input
from ..systems.linear import LinearPHDAE
from ..systems.nonlinear import PHDAE
from .constraints import Constraint
from .dirac_structure import to_port_hamiltonian, to_structure
from .elements.element import Element
from .model import Model
from .nodal import check_switches, to_nodal
from .start import start, stored
from .switching import over, switching
from .systems import to_linear, to_phdae


@checked
@dataclass(frozen=True, eq=False, repr=False)
class Circuit(Model):
    """Elements by name between named nodes, with Kirchhoff's laws ([survey] example 2.1); made by :func:`circuit`.

    Parameters
    ----------
    elements : mapping
        Elements by name.
    ground : str
        The node whose potential is zero.
    positions : mapping
        Which switches and diodes are closed; see :meth:`at`. Systems need all of them.
    """

    @property
    def constraints(self) -> tuple[Constraint, ...]:
        """Loops of capacitors and voltage sources, cutsets of inductors and current sources: none is index 1.

        Also what gyrators tie, as they turn voltages into currents.
        """
        return tuple(self.assembly.constraints)

    @property
    def kirchhoff(self) -> tuple[Array, Array]:
        """F, K (edges, edges) with ``F i + K v = 0``: the kernel form of [survey] eq. (2.26), F Kᵀ + K Fᵀ = 0."""
        tree, count = self.tree, len(self.edges)
        F, K = np.zeros((count, count)), np.zeros((count, count))
        cuts = len(tree.tree)
        F[:cuts, list(tree.tree)], F[:cuts, list(tree.links)] = np.eye(cuts), tree.M
        K[cuts:, list(tree.tree)], K[cuts:, list(tree.links)] = -tree.M.T, np.eye(count - cuts)
        return F, K

    @once
    def structure(self) -> DiracStructure:
        """The Dirac structure: Kirchhoff's laws composed with transformers, gyrators, closed and open switches.

        Ports by name, as :class:`flexph.dirac.PortHamiltonian` takes them: (f, e) = (−Q̇, v) of capacitors, (−φ̇, i) of
        inductors, (−i, v) of resistors ((−v, i) where the current controls), (u, y) of sources. Made without the tree
        of the other forms. Raises ValueError where a structure cannot be had, see
        :class:`flexph.dirac.DiracStructure`.
        """
        return to_structure(self.elements, self.edges, self.incidence)

    def port_hamiltonian(self) -> PortHamiltonian:
        """The system on :attr:`structure`: energies, resistive relations and sources as ports ([survey] sec. 2.5)."""
        return to_port_hamiltonian(self.elements, self.structure)

    @checked
    def phdae(self, form: Literal["tree", "nodal"] = "tree") -> PHDAE:
        """``E ẋ = (J − R) z + B u`` with x = (Q, φ, algebraic states) by the names of the elements.

        ``tree``: algebraic states are v or i of resistors, named ``v(R1)`` or ``i(R1)``, and the multipliers of
        constraints. ``nodal``: potentials ``e(a)`` and the currents of all but inductors and voltage-controlled
        resistors ([survey] eq. (2.27)), ``0 = A i, v = Aᵀe``. Ports are the sources by name.

        Parameters
        ----------
        form : {"tree", "nodal"}
            Which equations.

        Returns
        -------
        PHDAE
            The equations.

        Raises
        ------
        ValueError
            For loops of closed switches and cutsets of open ones in the nodal form, where their currents and voltages
            are open.
        """
        check.choice("form", form, ("tree", "nodal"))
        if form == "nodal":
            check_switches(self.tree)
            return to_nodal(self.elements, self.edges, self.reduced_incidence, self.nodal_names)
        return to_phdae(self.assembly)

    @property
    def nodal_names(self) -> list[str]:
        """Nodes that have a potential of their own."""
        return [node for node in self.nodes if node not in self.references]

    def linear(self) -> LinearPHDAE:
        """The linear system with voltages of capacitors and currents of inductors as states.

        Constraints without sources are rows of G with their names. Raises ValueError where an element is not linear.
        """
        return to_linear(self.assembly)

    @checked
    def state(
        self,
        voltages: Mapping[str, float] | None = None,
        currents: Mapping[str, float] | None = None,
        *,
        time: float = 0.0,
        inputs: Mapping[str, Input] | None = None,
    ) -> Array:
        """The consistent state of :meth:`phdae` from voltages of capacitors and currents of inductors.

        Those not given are zero unless constraints ask for more, and then as small as they can be.

        Parameters
        ----------
        voltages : mapping, optional
            Voltages of capacitors [V] by name.
        currents : mapping, optional
            Currents of inductors [A] by name.
        time : float
            Time [s].
        inputs : mapping, optional
            Inputs by source at this time, besides those that sources were given.

        Returns
        -------
        array
            State (n,).

        Raises
        ------
        ValueError
            For given values that a constraint excludes.
        ArithmeticError
            Where algebraic states are not determined.
        """
        given = {**self.inputs, **(inputs or {})}
        return start(self.assembly, self.phdae(), (voltages or {}, currents or {}), time=time, inputs=given)

    @checked
    def stored(
        self,
        system: PHDAE | SwitchingPHDAE,
        voltages: Mapping[str, float] | None = None,
        currents: Mapping[str, float] | None = None,
    ) -> Array:
        """A state of one of this circuit's systems from voltages and currents, zero if left out; not made consistent.

        Algebraic states are zero: runs of switching systems find them, :func:`flexph.consistency.consistent` those of
        others.

        Parameters
        ----------
        system : PHDAE or SwitchingPHDAE
            A system that this circuit made.
        voltages : mapping, optional
            Voltages of capacitors [V] by name.
        currents : mapping, optional
            Currents of inductors [A] by name.

        Returns
        -------
        array
            State (n,).
        """
        return stored(self.elements, system, (voltages or {}, currents or {}))

    @checked
    def switching(
        self, inputs: Mapping[str, Input] | None = None, *, positions: Sequence[Mapping[str, bool]] | None = None
    ) -> SwitchingPHDAE:
        """All modes of the switches and diodes that have no position yet, as one system ([survey] example 5.1).

        A mode is named by :attr:`at_text`: ``"S closed, D open"``. Those in which a voltage source is shorted or a
        current source has no way are left out. Switches follow their schedules, those at one instant together; ideal
        diodes end modes, with i ≥ 0 where they are closed and v ≤ 0 where open.

        Parameters
        ----------
        inputs : mapping, optional
            Inputs of the run by source, on which diodes depend, besides those that sources were given.
        positions : Sequence[mapping, optional
            The modes that are kept, by positions of switches (closed is True); all by default.

        Returns
        -------
        SwitchingPHDAE
            A switching system.
        """
        return switching(self, {**self.inputs, **(inputs or {})}, positions)

    def over(self, trajectory: SwitchingTrajectory, inputs: Mapping[str, Input] | None = None) -> list[dict[str, Any]]:
        """Voltages and currents by element, each (k + 1,), at the instants of a run of :meth:`switching`.

        Parameters
        ----------
        trajectory : SwitchingTrajectory
            A run of :meth:`switching`.
        inputs : mapping, optional
            Inputs of the run by source.

        Returns
        -------
        list[dict[str, Any]]
            For each instant voltages [V] and currents [A] by element, (k + 1,) each.
        """
        return over(self, trajectory, {**self.inputs, **(inputs or {})})

    @checked
    def voltages(self, states: Any, inputs: Mapping[str, Any] | None = None) -> dict[str, Array]:
        """v of each element (of two-ports (..., 2)) at states (..., n), with inputs by source (zero if left out).

        Parameters
        ----------
        states
            States (..., n).
        inputs : mapping, optional
            Inputs by source; zero unless given.

        Returns
        -------
        dict[str, array]
            By element (...) [V], of two-ports (..., 2).
        """
        return self.readings.by_element(self.readings.voltages, states, inputs)

    @checked
    def currents(self, states: Any, inputs: Mapping[str, Any] | None = None) -> dict[str, Array]:
        """i of each element from plus to minus, as :meth:`voltages`.

        Parameters
        ----------
        states
            States (..., n).
        inputs : mapping, optional
            Inputs by source; zero unless given.

        Returns
        -------
        dict[str, array]
            By element (...) [A], of two-ports (..., 2).
        """
        return self.readings.by_element(self.readings.currents, states, inputs)

    @checked
    def potentials(self, states: Any, inputs: Mapping[str, Any] | None = None) -> dict[str, Array]:
        """e of each node against ground (behind transformers against the first node there).

        Parameters
        ----------
        states
            States (..., n).
        inputs : mapping, optional
            Inputs by source; zero unless given.

        Returns
        -------
        dict[str, array]
            By node (...) [V].
        """
        values = self.readings.under(self.readings.potentials, states, inputs)
        potentials = {node: np.zeros(values.shape[:-1]) for node in self.nodes}
        return potentials | {node: values[..., k] for k, node in enumerate(self.nodal_names)}

    def describe(self) -> str:
        """Elements, tree, states and constraints in words."""
        edges, tree = self.edges, self.tree
        listed = lambda some: ", ".join(edges[k].name for k in some) or "none"  # noqa: E731
        lines = [
            repr(self),
            f"voltages independent: {listed(tree.tree)}",
            f"currents independent: {listed(tree.links)}",
        ]
        lines.append(f"states: {', '.join(self.assembly.names)}")
        lines += [f"constraint: {constraint}" for constraint in self.constraints] or ["no constraints: index 1 or less"]
        return "\n".join(lines)


@checked
def circuit(elements: Mapping[str, Element], ground: str = "gnd") -> Circuit:
    """A circuit from its elements by name.

    Loops that contain capacitors and cutsets that contain inductors are allowed; they are listed as ``constraints``.

    Parameters
    ----------
    elements : mapping
        Elements such as :func:`capacitor` by name, each between two named nodes.
    ground : str
        The node whose potential is zero.

    Returns
    -------
    Circuit
        The circuit, whose verbs give its systems (``phdae``, ``linear``, ``switching``, …).

    Raises
    ------
    ValueError
        For parts that are not connected with the ground, elements that end alone, loops of voltage sources and cutsets
        of current sources; the message names the elements.

    Examples
    --------
    >>> from flexph import eigenfrequencies
    >>> from flexph.circuits import capacitor, circuit, inductor
    >>> resonator = circuit({"C": capacitor("a", "gnd", 0.5), "L": inductor("a", "gnd", 0.5)})
    >>> eigenfrequencies(resonator.linear()).round(9)  # 1/√(L C)
    array([2.])
    """
    return Circuit(elements, ground)
