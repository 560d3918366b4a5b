"""``vit-str render``: rendered words as a data set for any trainer, or as sheets to look at."""
