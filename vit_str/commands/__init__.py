"""Commands on their way into the rooms that own them."""
