"""A mechanism as data: bodies and joints laid out as arrays, and all that its verbs work with.

State, time table, constraints, accounts of the energy, redundancy, range of validity, its equations as a system.
Imports: bodies, bodies.stresses, contacts, display, joints.rows, kernels, kernels.contacts, kernels.jacobians,
kernels.loads, kernels.rates, laws, linear, mechanisms.arrays, numerics, systems.
"""
