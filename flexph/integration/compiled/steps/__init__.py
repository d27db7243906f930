"""Steps of the exact scheme in compiled loops: the guess, the iteration, and the run that records them.

Imports: integration.compiled.contact, integration.compiled.decay, integration.compiled.friction,
integration.compiled.loops, integration.compiled.memory, integration.compiled.nodal, integration.times, kernels,
numerics, numerics.compiled, numerics.compiled.algebra.
"""
