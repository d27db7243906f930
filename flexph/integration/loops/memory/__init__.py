"""Memory of the loops: all constant arrays and work space of a mechanism, and their layout.

Imports: contacts.loops, discrete_gradients, kernels, laws, numerics, numerics.loops.
"""
