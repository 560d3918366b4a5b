"""Attention of a model while it is trained: callbacks for Lightning and for transformers."""
