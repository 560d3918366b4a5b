"""From which confidence and evidence on readers of other scripts are asked and believed."""

DOUBTFUL = 0.9
"""Confidence of the characters, as a geometric mean, below which other weights read an image too:
letters of another script are read as a few wrong ones among likely ones."""
SURE = 0.9
"""The same confidence, from which one look of other weights is believed."""
HOPELESS = 0.3
"""The same confidence, below which an image is too bad for any weights."""
CERTAIN = 0.99
"""The same confidence, from which a known word is what an image says."""
POSSIBLE = 0.35
"""Probability of another script, from which other weights look at what is no known word."""
LIKELY = 0.9
"""The same probability, from which other weights look at known words too.

The limits of words were chosen on rendered ones, 300 of each of six languages in other scripts and
1,800 in Latin letters, and on 6,725 photographed words of English."""
MOSTLY = 0.5
"""Share of words that no list holds, above which a text may be of another script."""
UNKNOWN_PART = 0.25
"""The same share, from which a part of a line may be, if the line is not sure."""
SURE_LINE = 0.98
"""Confidence of the characters, as a geometric mean, from which all of a line is.

The limits of lines were chosen on printed ones of eight languages."""
