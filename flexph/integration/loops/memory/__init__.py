"""Memory of the loops: all constant arrays and work space of a mechanism, and their layout.

Imports: discrete_gradients, kernels, laws, numerics, numerics.loops.
"""
