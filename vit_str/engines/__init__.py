"""Pixels -> scores: weights files, graphs, and the libraries that compute them."""
