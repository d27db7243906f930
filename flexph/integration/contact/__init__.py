"""Rigid contacts in steps of the exact scheme: complementarity, impacts, steps that close gaps, and their booking.

Imports: contacts, contacts.loops, control, integration.blocks, integration.exact, integration.loops,
integration.methods, integration.times, kernels, kernels.contacts, kernels.convergence, kernels.jacobians,
mechanisms, mechanisms.model, numerics, systems.
"""
