"""Two models on the same images, as paired differences."""
