"""Pages of random designs: grammar -> HTML -> browser -> what is on them -> pictures.

A family of pages puts parts together, a style says how they look, texts what they say; a browser
sets the page and a script reads from its DOM what docs/structure.md asks for.
"""
