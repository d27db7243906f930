"""Steps of the exact scheme in compiled loops: the guess, the iteration, and the run that records them.

Imports: control.loops, integration.loops.contact, integration.loops.decay, integration.loops.friction,
integration.loops.mechanics, integration.loops.memory, integration.loops.nodal, integration.loops.solids,
integration.loops.terms, kernels.convergence, numerics, numerics.algebra, numerics.loops.
"""
