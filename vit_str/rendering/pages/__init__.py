"""Pages with their truth as a data set: drawn, and some of them captured and read."""
