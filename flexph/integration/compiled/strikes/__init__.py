"""Steps with rigid contacts in loops: impacts, the step that closes gaps, and what settles.

They are those of :mod:`flexph.integration.contact.stepper`: by ``steps`` all of them, by ``events`` those in which no
gap closes. Contacts that share a body act on each other, or a part of bodies that joints and springs couple: such
islands are solved apart, each by its dense D. Of free bodies its blocks are those of the bodies that two contacts
share; bodies that are coupled or bend answer by the border of the step. What loops do not solve, NumPy does, step by
step.
Imports: contacts, contacts.compiled, integration.compiled.contact, integration.compiled.loops,
integration.compiled.memory, integration.compiled.nodal, integration.compiled.steps, integration.compiled.terms,
kernels, kernels.contacts, numerics, numerics.compiled, numerics.compiled.algebra.
"""
