"""A picture -> lines of text, level and cut out, and ruled lines."""
