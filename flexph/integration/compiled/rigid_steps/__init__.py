"""Steps with rigid contacts in loops: with impacts at their beginning, or split at events, where gaps close.

They are those of :mod:`flexph.integration.contact.stepper`. What loops do not solve, NumPy does, step by step.
Imports: contacts.compiled, integration.compiled.contact, integration.compiled.loops, integration.compiled.memory,
integration.compiled.steps, integration.compiled.strikes, kernels, kernels.contacts, numerics, numerics.compiled.
"""
