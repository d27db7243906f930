"""Contacts in loops: gaps, laws, friction, forces, their Jacobian and dissipation; checks of open rigid contacts.

Imports: contacts, integration.loops.memory, integration.loops.terms, kernels, kernels.contacts, kernels.surfaces,
numerics, numerics.loops.
"""
