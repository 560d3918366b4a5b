"""The edit distance, by whichever library is installed."""

try:
    from editdistance import eval as _edit_distance
except ImportError:  # editdistance has no wheel from Python 3.13 on, rapidfuzz has
    from rapidfuzz.distance.Levenshtein import distance as _edit_distance


def edit_distance(first: str, second: str) -> int:
    """Fewest characters to insert, drop or replace until one text is the other."""
    return int(_edit_distance(first, second))
