"""How alike layers are, of one model and of several."""
