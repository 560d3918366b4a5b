"""Text to batches of labelled images, as tensor operations on CPU or GPU.

lexicon -> glyphs, layout -> warp -> paint -> degrade, put together by the renderer.
"""
