"""Text to batches of labelled images, as tensor operations on CPU or GPU.

lexicon -> glyphs, layout, placement -> view, warp -> paint -> degrade -> legibility, put together
by the renderer.
"""
