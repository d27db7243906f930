"""Runs of mechanisms whose joints change: parts between the changes, joined into one solution.

Imports: no other room.
"""
