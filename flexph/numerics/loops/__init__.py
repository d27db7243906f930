"""Support of loops compiled ahead of time: views of arrays, callbacks by address, and the state of the build.

Imports: no other room.
"""
