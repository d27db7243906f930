"""Compiled solvers for the impulses Λ of contacts, with a dense matrix D or in the velocities of the bodies.

D relates impulses to the rates γ of the contacts, γ⁺ = γ⁻ + DΛ (see :mod:`flexph.contacts.levels`).

Imports: numerics, numerics.algebra, numerics.loops.
"""
