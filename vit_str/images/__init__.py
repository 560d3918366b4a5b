"""Image files -> pixels of a model, within limits of time and memory."""
