"""How far gradients reach: ViTs and convolutions in one unit."""
