"""Make the graphs for the weights of the package anew: python data/make_graphs.py."""

import shutil

from vit_str import console
from vit_str.export.folder import write_bundled
from vit_str.runtime.engine import GRAPHS
from vit_str.runtime.weights_contents import bundled_names, resolve
from vit_str.torch_runtime.weights_file import load_weights


def main() -> None:
    """Make the graphs of all weights of the package, and drop those of others."""
    made = {write_bundled(load_weights(resolve(name))) for name in bundled_names()}
    for folder in GRAPHS.iterdir():
        if folder not in made:
            shutil.rmtree(folder)
    for folder in sorted(made):
        console.write(str(folder))


if __name__ == "__main__":
    main()
