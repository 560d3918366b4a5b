"""Decoders: features -> labels."""
