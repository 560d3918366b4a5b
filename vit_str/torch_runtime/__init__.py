"""What reading needs torch for: weights files as models, devices, and the engine on them."""
