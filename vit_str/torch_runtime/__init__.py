"""Reading with torch: weights files as models, devices, and the engine on them."""
