"""Weights as folders, as the Hugging Face Hub has them: ``model.safetensors`` and a model card.

>>> from vit_str import hub
>>> hub.save_pretrained("tiny", "folder")  # doctest: +SKIP
>>> hub.from_pretrained("folder").read("word.png").text  # doctest: +SKIP
"""

import json
import os
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import vit_str
from vit_str.console import one_line
from vit_str.engines.weights_contents import (
    PRETRAINED,
    Contents,
    load_contents,
    read_metadata,
    resolve,
)
from vit_str.files import write_atomically
from vit_str.machine import install_hint
from vit_str.words.reader import Reader, load

_LIBRARY = "library_name: vit-str"  # by which a card of ours is known
_CARD_NAME = "README.md"
_CARD = """\
---
license: {licence}
library_name: vit-str
pipeline_tag: image-to-text
tags: [ocr, scene-text-recognition]
---

# {name}

Reads the text in cropped word images: {encoder} and {decoder}, {parameters:,} parameters.

```python
from vit_str import hub

reader = hub.from_pretrained("{name}")
print(reader.read("word.png").text)
```

| | |
|---|---|
| images | {height} x {width} pixels, whatever the aspect |
| characters | {count}: {characters} |
| temperature of the confidences | {temperature:g} |

## Data

{data}

## License

{licence}

## Where these weights come from

```json
{provenance}
```
"""


def from_pretrained(folder_or_repository: str | Path, **options: Any) -> Reader:
    """A reader with the weights of a folder, or of a repository of the Hugging Face Hub.

    Only a name that is no folder here is looked for over the network.

    Args:
        folder_or_repository: a folder of `save_pretrained`, or a name such as ``owner/name``.
        options: ``revision`` of the repository; all others are those of ``vit_str.load``.

    Raises:
        ValueError: the weights cannot be used, or ``huggingface_hub`` is not installed.
    """
    revision = options.pop("revision", None)
    folder = Path(folder_or_repository)
    if not folder.is_dir():
        hub = _hub()
        name = os.fspath(folder_or_repository)
        folder = Path(hub.hf_hub_download(name, PRETRAINED, revision=revision)).parent
    return load(folder / PRETRAINED, **options)


def save_pretrained(
    weights: str | Path,
    folder: str | Path,
    *,
    licence: str = "apache-2.0",
    name: str | None = None,
) -> Path:
    """Write weights and a model card to a folder, which ``--model FOLDER`` takes too.

    Args:
        weights: as ``vit_str.load`` takes them, but for exported models.
        folder: made if it is missing; what else is in it stays, and a model and a card of this
            project are replaced.
        licence: of these weights, as the Hub names it.
        name: of the model; that of the folder if None.

    Returns:
        The folder.

    Raises:
        ValueError: the weights cannot be used, or a model or README of others is there.
    """
    source = resolve(weights)
    folder = Path(folder)
    _refuse_others(folder)
    card = _card(load_contents(source), name or folder.resolve().name, licence)
    with write_atomically(folder / PRETRAINED) as temporary:
        shutil.copyfile(source, temporary)
    with write_atomically(folder / _CARD_NAME) as temporary:
        temporary.write_text(card, encoding="utf-8")
    return folder


def push_to_hub(
    weights: str | Path,
    repository: str,
    *,
    licence: str = "apache-2.0",
    private: bool = False,
    token: str | None = None,
) -> str:
    """Upload weights and their card to a repository of the Hub, which is made if it is missing.

    Args:
        weights: see `save_pretrained`.
        repository: such as ``owner/name``.
        licence: see `save_pretrained`.
        private: for a new repository.
        token: of the account; None for the one that ``hf auth login`` has kept.

    Returns:
        The address of the commit.

    Raises:
        ValueError: the weights cannot be used, or ``huggingface_hub`` is not installed.
    """
    api = _hub().HfApi(token=token)
    with TemporaryDirectory() as temporary:
        folder = save_pretrained(weights, temporary, licence=licence, name=repository)
        api.create_repo(repository, private=private, exist_ok=True)
        commit = api.upload_folder(
            repo_id=repository,
            folder_path=folder,
            commit_message=f"Upload weights with vit-str {vit_str.__version__}",
        )
    return str(commit)


def _refuse_others(folder: Path) -> None:
    """Raise a ValueError if a file that is not of this project would be replaced."""
    card = folder / _CARD_NAME
    if card.is_file() and _LIBRARY not in card.read_text("utf-8", "replace"):
        raise ValueError(
            f"{card}: there already, and no card of vit-str; give another folder"
        )
    weights = folder / PRETRAINED
    if weights.is_file():
        read_metadata(weights)


def _hub() -> Any:
    try:
        import huggingface_hub
    except ImportError:
        raise ValueError(
            f"the Hub needs huggingface_hub, run: {install_hint('hub')}"
        ) from None
    return huggingface_hub


def _card(contents: Contents, name: str, licence: str) -> str:
    described = contents.description
    preprocessing = contents.preprocessing
    data = one_line(str(contents.provenance.get("data", "")))
    trained_on = "The file does not say what it was trained on."
    if data:
        trained_on = f"Trained on: {data}."
    characters = contents.charset.characters
    for breaking in "`| ":
        characters = characters.replace(breaking, "")
    return _CARD.format(
        licence=licence,
        name=name,
        encoder=described["encoder"]["class"],
        decoder=described["decoder"]["class"],
        parameters=sum(tensor.size for tensor in contents.tensors.values()),
        height=preprocessing.height,
        width=preprocessing.width,
        count=len(contents.charset),
        characters=f"`{characters[:200]}`{' ...' if len(characters) > 200 else ''}",
        temperature=contents.temperature,
        data=trained_on,
        provenance=json.dumps(contents.provenance, indent=2, ensure_ascii=False),
    )
