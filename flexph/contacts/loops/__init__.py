"""Compiled solvers for the impulses Λ of contacts, with a dense matrix D or in the velocities of the bodies.

D relates impulses to the rates γ of the contacts, γ⁺ = γ⁻ + DΛ (see :mod:`flexph.contacts.levels`). Data are defined in
:mod:`.problem` and :mod:`.island_space`. A solver begins in :mod:`.proximal` with D, in :mod:`.proximal_coupled` with
the velocities, whose linear algebra is in :mod:`.coupled`. Both use Newton's method, interior points and sweeps; the
second one also follows paths of solutions (:mod:`.paths`).

Imports: numerics, numerics.algebra, numerics.loops.
"""
