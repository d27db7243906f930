"""What steps with rigid contacts are made of in loops: impacts, the way that closes gaps, and what settles.

Contacts that share a body act on each other, or a part of bodies that joints and springs couple: such islands are
solved apart, each by its dense D. Of free bodies its blocks are those of the bodies that two contacts share; bodies
that are coupled or bend answer by the border of the step. Dry friction of joints is among the contacts of an island.
Imports: contacts, contacts.loops, integration.loops.contact, integration.loops.friction, integration.loops.mechanics,
integration.loops.memory, integration.loops.nodal, integration.loops.solids, integration.loops.steps,
integration.loops.terms, kernels.contacts, kernels.convergence, numerics, numerics.loops.
"""
