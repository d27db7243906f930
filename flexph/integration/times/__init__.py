"""Loop over the steps of a run, recorded rows, step size control, events and checkpoints.

Imports: control, display, files, kernels.convergence, numerics, results, systems.
"""
