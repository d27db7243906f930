"""Circuits and their port-Hamiltonian systems.

Q are charges, φ fluxes, v voltages and i currents of elements, e potentials of nodes.
"""

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
from .dirac_structure import to_port_hamiltonian, to_structure
from .elements import Element
from .equations import Constraint
from .model import Model
from .nodal import check_switches, to_nodal
from .start import start, stored
from .switching import along, switching
from .systems import to_linear, to_phdae


@checked
@dataclass(frozen=True, eq=False, repr=False)
class Circuit(Model):
    """Circuit of named elements between named nodes ([survey] example 2.1); create it by :func:`circuit`.

    Parameters
    ----------
    elements : mapping
        Elements by name.
    ground : str
        Node whose potential is zero.
    positions : mapping
        Closed state of switches and diodes by name; see :meth:`at`. Systems need all of them.
    """

    @property
    def constraints(self) -> tuple[Constraint, ...]:
        """Loops of capacitors and voltage sources, cutsets of inductors and current sources; if empty, index 1.

        Gyrators may cause further ones, as they turn voltages into currents.
        """
        return tuple(self.assembly.constraints)

    @property
    def kirchhoff(self) -> tuple[Array, Array]:
        """Kernel form ``F i + K v = 0`` with F, K (edges, edges), F Kᵀ + K Fᵀ = 0 ([survey] eq. (2.26))."""
        tree, count = self.tree, len(self.edges)
        F, K = np.zeros((count, count)), np.zeros((count, count))
        cuts = len(tree.tree)
        F[:cuts, list(tree.tree)], F[:cuts, list(tree.links)] = np.eye(cuts), tree.M
        K[cuts:, list(tree.tree)], K[cuts:, list(tree.links)] = -tree.M.T, np.eye(count - cuts)
        return F, K

    @once
    def structure(self) -> DiracStructure:
        """Dirac structure: Kirchhoff's laws composed with transformers, gyrators, closed and open switches.

        Its named ports fit :class:`flexph.dirac.PortHamiltonian`: (f, e) = (−Q̇, v) for capacitors, (−φ̇, i) for
        inductors, (−i, v) for resistors ((−v, i) if current-controlled), (u, y) for sources. It is derived without the
        tree of the other forms. Raises ValueError if there is no structure, see :class:`flexph.dirac.DiracStructure`.
        """
        return to_structure(self.elements, self.edges, self.incidence)

    def port_hamiltonian(self) -> PortHamiltonian:
        """Port-Hamiltonian system of the circuit: its Dirac :attr:`structure`, stored energies and resistive relations.

        Its external ports are the sources ([survey] sec. 2.5).
        """
        return to_port_hamiltonian(self.elements, self.structure)

    @checked
    def phdae(self, form: Literal["tree", "nodal"] = "tree") -> PHDAE:
        """Equations ``E ẋ = (J − R) z + B u`` with x = (Q, φ, algebraic states), named after the elements.

        In the form ``tree`` algebraic states are v or i of resistors, named ``v(R1)`` or ``i(R1)``, and multipliers of
        constraints. In the form ``nodal`` they are potentials ``e(a)`` and currents of all elements except inductors
        and voltage-controlled resistors ([survey] eq. (2.27)), ``0 = A i, v = Aᵀe``. Ports are the sources by name.

        Parameters
        ----------
        form : {"tree", "nodal"}
            Form of the equations.

        Returns
        -------
        PHDAE
            System of equations.

        Raises
        ------
        ValueError
            In the nodal form, for loops of closed switches and cutsets of open ones, whose currents and voltages are
            undetermined.
        """
        check.choice("form", form, ("tree", "nodal"))
        if form == "nodal":
            check_switches(self.tree)
            return to_nodal(self.elements, self.edges, self.reduced_incidence, self.nodal_names)
        return to_phdae(self.assembly)

    @property
    def nodal_names(self) -> list[str]:
        """Names of the nodes whose potential is unknown."""
        return [node for node in self.nodes if node not in self.references]

    def linear(self) -> LinearPHDAE:
        """Linear system with voltages of capacitors and currents of inductors as states.

        Constraints without sources are named rows of G. Raises ValueError if an element is not linear.
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
        """Consistent state of :meth:`phdae` from voltages of capacitors and currents of inductors.

        Values that are not given are zero, or as small as the constraints allow.

        Parameters
        ----------
        voltages : mapping, optional
            Voltages of capacitors [V] by name.
        currents : mapping, optional
            Currents of inductors [A] by name.
        time : float
            Time [s].
        inputs : mapping, optional
            Inputs by source at this time, in place of the values of these sources.

        Returns
        -------
        array
            State (n,).

        Raises
        ------
        ValueError
            If a constraint excludes the given values.
        ArithmeticError
            If algebraic states are not determined.
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
        """State of a system of this circuit from voltages and currents, zero if omitted; not made consistent.

        Algebraic states are zero: runs of switching systems compute them; for other systems use
        :func:`flexph.consistency.consistent`.

        Parameters
        ----------
        system : PHDAE or SwitchingPHDAE
            System created from this circuit.
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
        """All modes of the switches and diodes without a position, as one system ([survey] example 5.1).

        A mode is named by :attr:`at_text`: ``"S closed, D open"``. Modes with a shorted voltage source or an
        interrupted current source are left out. Switches follow their schedules, simultaneous ones together; ideal
        diodes end modes, with i ≥ 0 while closed and v ≤ 0 while open.

        Parameters
        ----------
        inputs : mapping, optional
            Inputs of the run by source, in place of the values of these sources; diodes depend on them.
        positions : sequence of mapping, optional
            Modes to include, by positions of switches (closed is True); by default all.

        Returns
        -------
        SwitchingPHDAE
            Switching system.
        """
        return switching(self, {**self.inputs, **(inputs or {})}, positions)

    def along(self, trajectory: SwitchingTrajectory, inputs: Mapping[str, Input] | None = None) -> list[dict[str, Any]]:
        """Voltages and currents by element, each (k + 1,), at the instants of a run of :meth:`switching`.

        For a two-port they are those of its first pair of nodes.

        Parameters
        ----------
        trajectory : SwitchingTrajectory
            Run of :meth:`switching`.
        inputs : mapping, optional
            Inputs of the run by source.

        Returns
        -------
        list[dict[str, Any]]
            Voltages [V], and currents [A], by element, (k + 1,) each.
        """
        return along(self, trajectory, {**self.inputs, **(inputs or {})})

    @checked
    def voltages(self, states: Any, inputs: Mapping[str, Any] | None = None) -> dict[str, Array]:
        """Voltage v of each element (two-ports (..., 2)) at states (..., n), with inputs by source (zero if omitted).

        Parameters
        ----------
        states
            States (..., n).
        inputs : mapping, optional
            Inputs by source; zero if omitted.

        Returns
        -------
        dict[str, array]
            Voltages by element (...) [V], two-ports (..., 2).
        """
        return self.readings.by_element(self.readings.voltages, states, inputs)

    @checked
    def currents(self, states: Any, inputs: Mapping[str, Any] | None = None) -> dict[str, Array]:
        """Current i of each element from plus to minus; see :meth:`voltages`.

        Parameters
        ----------
        states
            States (..., n).
        inputs : mapping, optional
            Inputs by source; zero if omitted.

        Returns
        -------
        dict[str, array]
            Currents by element (...) [A], two-ports (..., 2).
        """
        return self.readings.by_element(self.readings.currents, states, inputs)

    @checked
    def potentials(self, states: Any, inputs: Mapping[str, Any] | None = None) -> dict[str, Array]:
        """Potential e of each node relative to ground.

        Nodes that only a transformer or gyrator couples to ground have potentials relative to the first of them.

        Parameters
        ----------
        states
            States (..., n).
        inputs : mapping, optional
            Inputs by source; zero if omitted.

        Returns
        -------
        dict[str, array]
            Potentials by node (...) [V].
        """
        values = self.readings.under(self.readings.potentials, states, inputs)
        potentials = {node: np.zeros(values.shape[:-1]) for node in self.nodes}
        return potentials | {node: values[..., k] for k, node in enumerate(self.nodal_names)}

    def describe(self) -> str:
        """Description of elements, tree, states and constraints in words."""
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
    """Create a circuit from its elements by name.

    Loops of capacitors and cutsets of inductors are allowed; they are listed as ``constraints``.

    Parameters
    ----------
    elements : mapping
        Elements such as :func:`capacitor` by name, each between two named nodes.
    ground : str
        Node whose potential is zero.

    Returns
    -------
    Circuit
        Circuit, whose methods return its systems (``phdae``, ``linear``, ``switching``, …).

    Raises
    ------
    ValueError
        For parts that are not connected with the ground, elements with an open end, loops of voltage sources and
        cutsets of current sources; the message names the elements.

    Examples
    --------
    >>> from flexph import eigenfrequencies
    >>> from flexph.circuits import capacitor, circuit, inductor
    >>> resonator = circuit({"C": capacitor("a", "gnd", 0.5), "L": inductor("a", "gnd", 0.5)})
    >>> eigenfrequencies(resonator.linear()).round(9)  # 1/√(L C)
    array([2.])
    """
    return Circuit(elements, ground)
