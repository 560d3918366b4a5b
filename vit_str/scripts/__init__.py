"""Which weights read which script, and which images show another script than was read."""
