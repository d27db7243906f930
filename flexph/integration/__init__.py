"""Time integration: mechanisms by the exact scheme, general systems by all methods.

Imports: integration.exact, integration.general, integration.methods, integration.times, mechanisms, mechanisms.model,
numerics, results, switching, systems.
"""
