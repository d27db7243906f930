"""Responses of linear systems: frequency, step and impulse responses, zeros, damping ratios, sweeps."""
