"""Steps with rigid contacts in loops: with impacts at their start, or split at events where gaps close.

In both cases gaps that still close within the step are closed by its own impulses
(:mod:`flexph.integration.loops.strikes.closing`), and velocities that violate the contact laws at its end settle
(:mod:`flexph.integration.loops.strikes.settling`).

Imports: integration.loops.contact, integration.loops.memory, integration.loops.steps, integration.loops.strikes,
integration.loops.terms, kernels.contacts, kernels.convergence, numerics, numerics.loops.
"""
