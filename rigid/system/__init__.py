"""Multibody systems in redundant coordinates ([rigid] sec. 4): members, checks, initial states, equations.

Imports: flexph.dirac, flexph.laws, flexph.numerics, flexph.systems.
"""
