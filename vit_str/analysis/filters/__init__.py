"""What the first layer looks for."""
