"""Figure 7 of the ViT paper for any Vision Transformer: filters, positions, distance."""
