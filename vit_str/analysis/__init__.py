"""The attention lab: how far heads look, layer by layer, and where the decoder looked."""
