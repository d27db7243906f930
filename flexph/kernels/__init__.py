"""Kernels: flat arrays in, flat arrays out; nothing here knows of bodies, joints or mechanisms."""
