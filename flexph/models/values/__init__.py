"""Values of model files: numbers with units, and functions of time as expressions, tables or trusted functions.

Imports: systems, units.
"""
