"""Steps of mechanisms in blocks, by compiled loops: the same steps as one by one, and the same rows.

A block stepper takes many steps at once; what runs it, block by block, is an iterator of entries of the run's loop:
times that are prescribed, steps that their error allows, steps of runs with controllers.
Imports: control, control.loops, integration.exact, integration.loops, integration.loops.memory,
integration.loops.steps, integration.times, kernels, mechanisms, mechanisms.model, numerics, numerics.loops, sensors.
"""
