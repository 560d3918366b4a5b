"""Labeled pictures of whole pages: how many of their words are found and read.

``labels`` are what people have written down, ``scores`` compares with them what was read.
"""
