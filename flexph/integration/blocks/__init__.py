"""Steps of mechanisms in blocks, by compiled loops, with results equal to those of single steps.

A block stepper takes many steps in one call. Iterators for the loop of a run call it block by block: for prescribed
times, for steps chosen by their error, and for runs with controllers.
Imports: contacts, control, integration.loops, integration.loops.memory, integration.loops.steps, integration.schemes,
integration.times, joints.rows, kernels, kernels.contacts, kernels.convergence, kernels.rates, laws, mechanisms.model,
mechanisms.poses, numerics, systems.
"""
