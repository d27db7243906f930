"""The loop over the steps of a run and its rows, steps chosen by their error, and events.

Imports: control, control.laws, files, kernels.convergence, numerics, results, systems.
"""
