"""flexph: flexible multibody dynamics in port-Hamiltonian form.

Bodies are joined at named ports to form a mechanism. A run of a mechanism gives a solution with an energy ledger.

1. Bodies: packages ``fem`` (beams, rods, plates, solids) and ``rigid``; ``flexph.bodies`` for bodies from
   other programs.
2. Mechanism: ``connect(bodies, [weld(...), hinge(...), drive(...), force(...)])``; more joints in ``flexph.joints``,
   laws of springs in ``flexph.laws``, contacts in ``flexph.contacts``. The methods of a mechanism
   (``flexph.mechanisms``) find poses, states and equilibria.
3. Run: ``integrate(mechanism, start, times, method=...)`` by a method of ``flexph.methods``, with controllers of
   ``flexph.control`` that read ``flexph.sensors``, and joints that lock (``flexph.changes``). ``flexph.robots`` has
   kinematics and motions. ``Simulator`` makes single steps; ``flexph.fmu`` exports a simulator.
4. Result: ``Solution`` or ``Trajectory`` of ``flexph.results``, shown by ``flexph.plot``, ``flexph.report`` and
   ``flexph.export``.
5. Linear systems: ``mechanism.linearize(pose)`` is a ``LinearPHDAE`` for ``eliminate``, ``modes``, ``reduce`` and other
   functions of ``flexph.linear``; ``flexph.exchange`` reads and writes it.
6. Studies: ``study(function, samples)`` and ``flexph.studies`` repeat runs; ``flexph.gradients`` has their
   derivatives by many parameters. ``flexph.models`` reads bodies, mechanisms, runs and studies from a file.
7. Theory: a ``PHDAE`` (``flexph.systems``) is a system without bodies; ``integrate`` runs it, too. ``flexph.dirac``,
   ``flexph.descriptor``, ``flexph.discrete_gradients``, ``flexph.discretisation``, ``flexph.consistency``,
   ``flexph.interconnection``, ``flexph.analysis``, ``flexph.circuits`` and ``flexph.switching`` build on it.
"""

import lazy_loader

from flexph.numerics.loops.built import find_loops

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
find_loops()  # before any of them is imported
__version__ = "0.1.0"
