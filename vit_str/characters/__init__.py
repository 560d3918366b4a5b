"""Characters that models write, the alphabets of scripts, and distances between texts."""
