"""Equilibria, steady rotations and small motions about them.

Imports: bodies, bodies.floating, contacts, display, integration.loops.statics, interconnection, joints.rows, kernels,
kernels.contacts, kernels.rates, kernels.stiffness, laws, linear, linear.eigenmodes, linear.responses, mechanisms.model,
mechanisms.poses, numerics, numerics.factors, systems.
"""
