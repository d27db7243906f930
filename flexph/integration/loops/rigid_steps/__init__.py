"""Steps with rigid contacts in loops: with impacts at their start, or split at events where gaps close.

In both the step closes what remains (:mod:`flexph.integration.loops.strikes.closing`), and velocities that it left
against the contacts settle at its end (:mod:`flexph.integration.loops.strikes.settling`).
Imports: contacts.loops, integration.loops.contact, integration.loops.memory, integration.loops.steps,
integration.loops.strikes, integration.loops.terms, kernels.contacts, kernels.convergence, numerics, numerics.loops.
"""
