"""Which characters of a reading are which of the label: the cheapest edit script."""

Cost = tuple[int, int]
"""Edits, and minus the number of equal characters: the smaller, the better the alignment."""


def matches(text: str, label: str) -> list[tuple[int, int]]:
    """Places (in ``text``, in ``label``) of the characters that both have.

    They come from an alignment of the least edit distance (Levenshtein 1966); of several, one
    with the most equal characters.
    """
    costs = _costs(text, label)
    pairs = []
    i, j = len(text), len(label)
    while i and j:
        same = text[i - 1] == label[j - 1]
        if costs[i][j] == _together(costs[i - 1][j - 1], same):
            i, j = i - 1, j - 1
            pairs += [(i, j)] * same
        elif costs[i][j] == _alone(costs[i - 1][j]):
            i -= 1
        else:
            j -= 1
    return pairs[::-1]


def _costs(text: str, label: str) -> list[list[Cost]]:
    """Of every beginning of the one to every beginning of the other."""
    costs: list[list[Cost]] = [[(j, 0) for j in range(len(label) + 1)]]
    for i, character in enumerate(text, 1):
        row: list[Cost] = [(i, 0)]
        for j, other in enumerate(label, 1):
            together = _together(costs[-1][j - 1], character == other)
            row.append(min(together, _alone(costs[-1][j]), _alone(row[-1])))
        costs.append(row)
    return costs


def _together(cost: Cost, same: bool) -> Cost:
    return cost[0] + (not same), cost[1] - same


def _alone(cost: Cost) -> Cost:
    return cost[0] + 1, cost[1]
