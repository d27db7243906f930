"""Multibody systems as Dirac structure, Lagrangian submanifold and resistive relation ([rigid] definitions 3 to 7).

:mod:`.dirac` has D and R, :mod:`.lagrangian` the energy, :mod:`.whole` the system of these.

Imports: flexph.dirac, flexph.numerics, rigid.system.
"""
