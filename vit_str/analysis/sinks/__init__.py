"""Which tokens attention sinks into, and why."""
