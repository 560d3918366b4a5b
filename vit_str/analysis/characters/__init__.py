"""Where the decoder looked for each character, with scores."""
