"""Pages as pictures that browsers show."""

import base64
import io

from PIL import Image

_LONGEST = 2000  # pixels of a side: letters of a page of text can be read
_QUALITY = 85


def data_url(picture: Image.Image) -> str:
    """A page as the URL of a JPEG picture that holds all of it, large ones reduced."""
    shown = picture.convert("RGB")
    shown.thumbnail((_LONGEST, _LONGEST))
    file = io.BytesIO()
    shown.save(file, "JPEG", quality=_QUALITY)
    content = base64.b64encode(file.getvalue()).decode("ascii")
    return f"data:image/jpeg;base64,{content}"
