"""Published sets of millions of words, read as they are distributed, to be converted."""
