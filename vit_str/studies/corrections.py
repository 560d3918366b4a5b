"""What the posts say in passing and a reader should know better; no study of its own is needed."""

from typing import NamedTuple


class Correction(NamedTuple):
    """A point of a post, and how it is.

    Attributes:
        posts: letters of the posts, see `vit_str.studies.study.POSTS`.
        said: what they say.
        correction: how it is.
    """

    posts: str
    said: str
    correction: str


CORRECTIONS = (
    Correction(
        "V",
        "From the first attention layer on, pixels interact with pixels.",
        "What interacts are patches: each is one token, and the pixels in it meet in a linear "
        "layer before any attention. Two pixels interact as far as their patches do.",
    ),
    Correction(
        "E",
        "Relating two far positions costs a constant number of operations.",
        "Constant is the number of steps one after the other. The work is not: every token looks "
        "at every token, so computing and memory grow with the square of the length.",
    ),
    Correction(
        "S",
        "The input is divided by the number of heads, and each head attends with its part.",
        "What is divided are the projections. Every head sees the whole input through matrices "
        "of its own, which give it queries, keys and values of dimension dim / heads.",
    ),
    Correction(
        "L",
        "Products of queries and keys of dimension 10 have a standard deviation of about 10.",
        "A standard deviation of 10 belongs to dimension 100, as the sentence before it in the "
        "post has it: with independent entries of variance 1, the variance is the dimension.",
    ),
)
