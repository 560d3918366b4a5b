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
"""Confidence of the characters, as a geometric mean, from which all of a line is."""
CHANCE_WORD = 2
"""Letters of a word, up to which it may be in a list by chance."""
LIKELY_TEXT = 0.9
"""Probability of a text without longer words, below which it may be of another script."""
LEGIBLE = 0.6
"""Confidence of the characters, as a geometric mean, from which a line of another script counts."""
LIKELIER = 4.5
"""How much more probable a line of another script has to be, which are rarer.

The limits of lines were chosen on printed ones of thirteen languages, 145 crops of Korean, and 529
lines of receipts, of books of the 19th century and on signs."""
