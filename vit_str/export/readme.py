"""The README of an exported model: how to read with it in a few lines of numpy."""

from vit_str.runtime.engine import Interface

_TEXT = """\
# {decoder} for onnxruntime

Made by `vit-str export`. `vit-str read --model FOLDER` and `vit_str.load("FOLDER")` read with it:
tall images in both directions, doubtful ones (`reread_below`) again, also from other views. This
program reads an image once and needs no vit-str; run it in the folder:

```python
{program}```

| file | what it is |
|---|---|
{files}
| `model.json` | `charset`: the characters by their ids; `preprocessing`; `interface`: the longest \
text, and how the graphs are used; `temperature`: divides logits, for confidences |

The first axis of every input and output is the batch. Images are float32, `(pixels / 255 - mean) /
std`, channels first. The id after those of the characters is the {last}.
"""

_FILES = {
    "encoder": "`pixel_values`: images to {gives}",
    "step": "`input_ids`: the last character, at first the start, to the `logits` of the next; "
    "what is called `present...` goes into the next call as `past_key_values...`; "
    "`cross_attentions`, if there, say where it looks",
    "refine": "`input_ids`: a text padded with -1 to the longest length, to the `logits` of every "
    "character given all others",
    "verify": "`input_ids`: the start and a text, to the `logits` of every character given those "
    "before it; checks what the `logits` of the encoder spell along the columns (CTC)",
}

_START = """\
import json
import sys

import numpy as np
from onnxruntime import InferenceSession
from PIL import Image


def run(session, **inputs):
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, inputs)))


model = json.load(open("model.json", encoding="utf-8"))
charset, size = model["charset"], model["preprocessing"]
longest = model["interface"]["maximum_length"]
image = Image.open(sys.argv[1]).convert("RGB")
width, step = size["width"], size["width_step"]
if step:  # a model of lines, whose widths are multiples
    steps = round(image.width / image.height * size["height"] / step)
    width = min(width, max(1, steps) * step)
image = image.resize((width, size["height"]), Image.Resampling.BICUBIC)
pixels = (np.asarray(image, np.float32) / 255 - np.float32(size["mean"])) / np.float32(size["std"])
seen = run(InferenceSession("encoder.onnx"), pixel_values=pixels.transpose(2, 0, 1)[None])
"""

_LOOP = """\


def as_past(outputs):
    kept = [name for name in outputs if name.startswith("present")]
    return {name.replace("present", "past_key_values"): outputs[name] for name in kept}


step, state = InferenceSession("step.onnx"), as_past(seen)
for value in step.get_inputs()[1:]:
    if value.name not in state:  # nothing is written yet
        state[value.name] = np.zeros((1, value.shape[1], 0, value.shape[3]), np.float32)
ids = [len(charset)]  # the start
while len(ids) <= longest:
    found = run(step, input_ids=np.array([[ids[-1]]]), **state)
    state |= as_past(found)
    ids.append(int(found["logits"][0, -1].argmax()))
    if ids[-1] == len(charset):  # the end
        break
ids = [each for each in ids if each < len(charset)]
"""

_REFINE = """\
for _ in range(model["interface"]["refinements"]):
    padded = np.array([ids + [-1] * (longest - len(ids))])
    found = run(InferenceSession("refine.onnx"), input_ids=padded, **as_past(seen))
    ids = [*found["logits"][0].argmax(-1)[:longest].tolist(), len(charset)]
    ids = ids[: ids.index(len(charset))]
"""

_SCORES = """\
ids = [*seen["logits"][0].argmax(-1)[:longest].tolist(), len(charset)]
ids = ids[: ids.index(len(charset))]  # up to the end
"""

_CTC = """\
best = seen["logits"][0].argmax(-1)  # of every column; the last id is the blank
new = np.append(True, best[1:] != best[:-1])
ids = best[new & (best < len(charset))][:longest].tolist()
"""

_PROGRAMS = {
    "step": _START + _LOOP,
    "refine": _START + _LOOP + _REFINE,
    "scores": _START + _SCORES,
    "ctc": _START + _CTC,
}
_END = 'print("".join(charset[each] for each in ids))\n'


def readme(interface: Interface, graphs: list[str]) -> str:
    """The page of a model with these graphs."""
    gives = "what every step needs of them" if "step" in graphs else "the `logits` of the text"
    files = [f"| `{name}.onnx` | {_FILES[name].format(gives=gives)} |" for name in graphs]
    return _TEXT.format(
        decoder=interface.decoder,
        program=_PROGRAMS[interface.loop] + _END,
        files="\n".join(files),
        last="blank" if interface.loop == "ctc" else "start as an input and the end as an output",
    )
