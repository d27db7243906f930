"""Methods of integration: values that check themselves at creation and carry only their valid options.

Imports: integration.times, kernels.convergence, numerics.
"""
