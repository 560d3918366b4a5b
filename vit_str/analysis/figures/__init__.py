"""Plain values in, matplotlib figures out."""
