"""The attention lab: a folder for each question of ``vit-str analyze``, and what they share."""
