"""Numbers with units, as texts: one parser for model files and arguments.

Imports: no other room.
"""
