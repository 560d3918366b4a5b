"""Pages -> documents and files: a module for each format."""
