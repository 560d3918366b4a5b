"""From words and rules of a page to what a network is told of them."""
