"""Rest and small motions about it: equilibria, linearisation, steady rotation.

Imports: bodies, bodies.floating, contacts, display, files, integration.loops.statics, interconnection, joints.rows,
kernels, kernels.rates, kernels.stiffness, linear, linear.eigenmodes, linear.responses, mechanisms.model,
mechanisms.poses, numerics, numerics.factors, systems.
"""
