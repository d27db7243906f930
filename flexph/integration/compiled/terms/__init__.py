"""What forces and their Jacobian are made of in loops: gradients of nodes, angles, entries of the border.

Imports: integration.compiled.memory, numerics, numerics.compiled.
"""
