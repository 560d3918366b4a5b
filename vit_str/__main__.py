"""`python -m vit_str` is `vit-str`."""

from vit_str.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
