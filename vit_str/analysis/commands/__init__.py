"""One module per subcommand of ``vit-str analyze``: its purpose, its arguments, what it does."""
