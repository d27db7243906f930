"""Samples on many processors: at least once each, recorded once, whatever is killed.

A sample is a :class:`Task` for a worker (``tasks``), which stores its record itself where it sees the folder
(``records``, ``folders``); a :class:`Schedule` gives tasks to an :class:`Engine`, and again where a worker died.

Imports: files, flexph, numerics.
"""
