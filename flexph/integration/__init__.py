"""Time integration: mechanisms by the exact scheme, general systems by all methods.

Imports: control, files, integration.compiled, integration.compiled.steps, integration.contact, integration.exact,
integration.general, integration.methods, integration.times, kernels, mechanisms, mechanisms.equations,
mechanisms.model, numerics, results, sensors, switching, systems.
"""
