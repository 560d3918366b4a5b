"""Encoders: images -> features."""
