"""Parts of steps with rigid contacts in loops: impacts, the step that closes gaps, and the settling of velocities.

Contacts interact if they share a body or a group of bodies that joints and springs couple. Such islands are solved
separately, by the compliance D of their contacts (see .law). For free bodies the blocks of D are computed from the
bodies that two contacts share, for coupled or flexible bodies from the border of the step. Joints with dry friction,
the bearings, count as contacts of an island.

Each contact has d rates: row 0 is the rate of its gap, the other rows are slip rates along its tangents. The impulse in
a row is power-conjugate to the rate of the row. ``strike_may_close`` has the marks of contacts, see .marks. The
argument ``law`` is the work space to solve contact laws, ``island`` the data of the island to be solved
(contacts.loops.island_space), and ``kinds`` the kind of the steps, see .coupled.

Imports: contacts, contacts.loops, integration.loops.contact, integration.loops.friction, integration.loops.mechanics,
integration.loops.memory, integration.loops.nodal, integration.loops.solids, integration.loops.steps,
integration.loops.terms, kernels.contacts, kernels.convergence, numerics, numerics.algebra, numerics.loops.
"""
