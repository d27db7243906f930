"""Multibody systems as Dirac structure, Lagrangian submanifold and resistive relation ([rigid] definitions 3-7).

:mod:`.dirac` contains the structure D and the relation R, :mod:`.lagrangian` the energy, :mod:`.whole` the composed
system.

Imports: flexph.dirac, flexph.numerics, rigid.system.
"""
