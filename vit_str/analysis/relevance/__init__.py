"""Which tokens made the decoder write a character, by gradients."""
