"""Which positions look alike to a model."""
