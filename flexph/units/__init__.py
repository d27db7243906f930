"""Texts with units: one parser for model files and arguments.

Imports: no other room.
"""
