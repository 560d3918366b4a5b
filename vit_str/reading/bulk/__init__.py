"""``vit-str read --engine ray``: images by the million, into a folder."""
