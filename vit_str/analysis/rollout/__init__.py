"""Attention multiplied through the layers."""
