"""Steps of free rigid bodies with rigid contacts in loops: impacts, the step that closes gaps, and what settles.

They are those of :mod:`flexph.integration.contact.stepper` by ``steps``. Contacts that share a body act on each other:
such islands are solved apart, each by its dense D, whose blocks are those of the bodies that two contacts share. What
loops do not solve, NumPy does, step by step.
Imports: contacts, contacts.compiled, integration.compiled.contact, integration.compiled.loops,
integration.compiled.memory, integration.compiled.steps, integration.compiled.terms, kernels, kernels.contacts,
numerics.
"""
