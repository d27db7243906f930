"""Rigid contacts in steps of the exact scheme: complementarity, impacts, steps that close gaps, and their booking.

Imports: contacts, contacts.compiled, integration.blocks, integration.compiled,
integration.exact, integration.methods, integration.times, kernels, kernels.contacts, kernels.jacobians, mechanisms,
mechanisms.model, numerics, systems.
"""
