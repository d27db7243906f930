"""Data model of a mechanism: bodies and joints as arrays, and the quantities that its methods share.

These are state, time table, constraints, energy accounts, redundancy and range of validity. Imports: bodies,
bodies.breaking, contacts, display, joints.rows, kernels, kernels.contacts, kernels.convergence, kernels.rates, laws,
linear, mechanisms.arrays, numerics, systems, units.
"""
