"""One self-contained page per analysis."""
