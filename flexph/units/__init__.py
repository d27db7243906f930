"""Parser of numbers with units, for model files and arguments.

Imports: no other room.
"""
