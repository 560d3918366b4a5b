"""How far every head looks, layer by layer."""
