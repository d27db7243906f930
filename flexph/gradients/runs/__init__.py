"""Runs of which derivatives are taken: set-up, kept steps, sweeps back over them, and readings of sensors along them.

Imports: contacts, integration, integration.blocks, integration.loops, integration.loops.gauss,
integration.loops.memory, integration.loops.recorded, integration.methods, integration.schemes, integration.times,
kernels, kernels.contacts, kernels.convergence, mechanisms, mechanisms.model, numerics, numerics.loops, results,
sensors, systems.
"""
