"""Is a text what a picture says? Word by word, with places and probabilities."""
