"""Values of model files: numbers with units, functions of time as expressions, tables or trusted functions.

Imports: systems, units.
"""
