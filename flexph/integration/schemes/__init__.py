"""Schemes of the steps of mechanisms: options of a method, starts and ends of steps, failures of a run.

Imports: bodies, contacts, integration.loops, integration.methods, integration.times, joints.rows, kernels,
kernels.convergence, laws, mechanisms, mechanisms.model, numerics, systems.
"""
