"""``vit-str read``: crops of words, whole pages, and images by the million."""
