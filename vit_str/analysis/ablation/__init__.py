"""Which attention heads reading needs."""
