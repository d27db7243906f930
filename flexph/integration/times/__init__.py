"""Loop over the steps of a run, recorded rows, step size control, events and checkpoints.

Imports: control, control.laws, files, kernels.convergence, numerics, results, systems.
"""
