"""Differentiated runs: set-up, stored steps, backward sweeps, and readings of sensors.

Imports: contacts, integration, integration.blocks, integration.loops, integration.loops.gauss,
integration.loops.memory, integration.loops.recorded, integration.methods, integration.schemes, integration.times,
kernels, kernels.contacts, kernels.convergence, mechanisms, mechanisms.model, mechanisms.poses, numerics,
numerics.loops, results, sensors, systems.
"""
