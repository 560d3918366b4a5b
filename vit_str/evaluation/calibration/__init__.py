"""Weights that are calibrated: a fitted temperature, or measured ranges for 8 bits."""
