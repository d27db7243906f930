"""Time integration: mechanisms by the exact scheme, general systems by all methods.

Imports: files, integration.exact, integration.general, integration.methods, integration.times, mechanisms,
mechanisms.equations, mechanisms.model, numerics, results, switching, systems.
"""
