"""Multibody systems in redundant coordinates ([rigid] sec. 4): members, checks, starts, equations.

Imports: flexph.numerics, flexph.systems.
"""
