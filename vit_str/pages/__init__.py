"""Whole pictures -> words in reading order: find lines, split them into words, order, read."""
