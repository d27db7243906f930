"""Steps with rigid contacts in loops: with impacts at their start, or split at events where gaps close.

They are the steps of :mod:`flexph.integration.contact.stepper`; NumPy solves the steps that loops do not.
Imports: contacts.loops, integration.loops.contact, integration.loops.memory, integration.loops.steps,
integration.loops.strikes, kernels.contacts, kernels.convergence, numerics, numerics.loops.
"""
