"""Temperatures that make confidences mean what they say: ``vit-str calibrate``."""
