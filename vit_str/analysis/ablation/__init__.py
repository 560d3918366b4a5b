"""Whether reading needs a head: words read right while its output is zero."""
