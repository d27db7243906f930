"""Single floating body in the coordinates of [flex]: its matrices and its port-Hamiltonian system.

``floating_body`` makes the nonlinear system and ``linear_body`` the linear one of a body at rest. ``floating_blocks``
and ``floating_slopes`` compute the matrices of the former and their derivatives.

Imports: bodies, numerics, systems.
"""
