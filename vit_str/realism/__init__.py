"""How far rendered words are from photographed ones: ``vit-str render --compare``."""
