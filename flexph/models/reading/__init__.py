"""YAML as plain data with the place of every value, and errors that say where.

Imports: no other room.
"""
