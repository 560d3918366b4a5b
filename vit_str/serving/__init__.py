"""Reading over HTTP, ``vit-str serve``: bounded queues in front of one reader."""
