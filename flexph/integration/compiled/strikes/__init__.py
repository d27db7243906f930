"""What steps with rigid contacts are made of in loops: impacts, the way that closes gaps, and what settles.

Contacts that share a body act on each other, or a part of bodies that joints and springs couple: such islands are
solved apart, each by its dense D. Of free bodies its blocks are those of the bodies that two contacts share; bodies
that are coupled or bend answer by the border of the step. Dry friction of joints is among the contacts of an island.
Imports: contacts, contacts.compiled, integration.compiled.contact, integration.compiled.friction,
integration.compiled.loops, integration.compiled.memory, integration.compiled.nodal, integration.compiled.steps,
integration.compiled.terms, kernels, kernels.contacts, numerics, numerics.compiled, numerics.compiled.algebra.
"""
