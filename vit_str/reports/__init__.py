"""Pages that people read: one file of HTML with its figures, Markdown, and how figures look."""
