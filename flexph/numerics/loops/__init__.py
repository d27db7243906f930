"""Loops that are compiled ahead of time: views of arrays, functions at addresses, and how this installation has them.

Imports: no other room.
"""
