"""Memory of the loops: all constant arrays of a mechanism and its work space, in one block, and their layout.

Letters in shapes are: b bodies or frames, d dimensions, s spins of a body (1 in the plane, 3 in space), n flexible
coordinates, m stresses, k nodes, v vectors, p products, g multipliers, i inputs, N unknowns of the border.

Imports: contacts.loops, discrete_gradients, kernels, laws, numerics, numerics.loops.
"""
