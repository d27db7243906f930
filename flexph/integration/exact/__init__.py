"""The exact scheme of mechanisms, its compositions, and their runs.

A step is solved by the NumPy kernels or, in blocks, by their compiled twin.
Imports: bodies, contacts, control, integration.compiled, integration.compiled.gauss, integration.compiled.steps,
integration.methods, integration.times, kernels, kernels.gauss, kernels.jacobians, kernels.rates, mechanisms,
mechanisms.model, mechanisms.poses, numerics, numerics.factors, results, sensors, systems.
"""
