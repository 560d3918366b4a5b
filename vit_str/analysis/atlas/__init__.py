"""How far the heads of many public architectures look, on one page."""
