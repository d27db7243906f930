"""What forces and their Jacobian are made of in loops: gradients of nodes, angles, entries of the border.

Imports: integration.loops.memory, numerics, numerics.loops.
"""
