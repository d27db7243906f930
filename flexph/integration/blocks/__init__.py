"""Steps of mechanisms in blocks, by compiled loops: the same steps as one by one, and the same rows.

A block stepper takes many steps in one call. An iterator of entries of the run's loop runs it block by block:
prescribed times, steps chosen by their error, runs with controllers.
Imports: contacts, control, integration.loops, integration.loops.memory, integration.loops.steps, integration.schemes,
integration.times, joints.rows, kernels, kernels.contacts, kernels.convergence, kernels.rates, laws, mechanisms.model,
mechanisms.poses, numerics, systems.
"""
