"""Steps of the exact scheme in compiled loops: initial guess, Newton iteration, and the loop that records the steps.

Imports: control.loops, integration.loops.contact, integration.loops.decay, integration.loops.friction,
integration.loops.mechanics, integration.loops.memory, integration.loops.nodal, integration.loops.solids,
integration.loops.terms, kernels.convergence, numerics, numerics.algebra, numerics.loops.
"""
