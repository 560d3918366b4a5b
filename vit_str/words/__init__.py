"""Images of words and lines -> text: ``vit_str.load().read("word.png").text``."""
