"""Steps with rigid contacts in loops: with impacts at their beginning, or split at events, where gaps close.

They are those of :mod:`flexph.integration.contact.stepper`. What loops do not solve, NumPy does, step by step.
Imports: contacts.loops, integration.loops.contact, integration.loops.memory, integration.loops.steps,
integration.loops.strikes, kernels.contacts, kernels.convergence, numerics, numerics.loops.
"""
