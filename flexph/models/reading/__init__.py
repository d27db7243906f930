"""Parser of YAML into plain data with the position of every value, and errors that give the position.

Imports: systems, units.
"""
