"""How the arrays of the compiled kernels lie in memory, and loops over vector registers.

Imports: kernels, numerics, numerics.loops, systems.
"""
