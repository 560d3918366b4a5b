"""Models of timm, torchvision and transformers, as encoders that the lab can look into."""
