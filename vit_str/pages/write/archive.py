"""PDF/A-1b (ISO 19005-1, level B): what a file of pictures says and holds to be kept for long.

Its colors are those of sRGB, by a profile in the file, and a record in XMP says what it is. Fonts
are in the file anyway, see `glyphless_font`.
"""

import struct
from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pikepdf

VERSION = "1.4"
"""Of PDF, on which PDF/A-1 is built: without streams of objects."""
_MOST_BITS = 8  # of a color in PDF 1.4
_NEWER_PROFILE = 4  # first version of ICC that PDF 1.4 does not know
_VERSION_PLACE = 8  # in a profile
_D50 = (0.9642, 1.0, 0.8249)  # the white to which profiles refer
# Red, green and blue of sRGB under D50 (IEC 61966-2-1)
_PRIMARIES = (
    (0.43607, 0.22249, 0.01392),
    (0.38515, 0.71687, 0.09708),
    (0.14307, 0.06061, 0.71410),
)
_STEPS = 256  # of the curve
_PLAIN = ("/DeviceRGB", "/DeviceGray")
# What says of itself what it is, and when it was made
_RECORD = """\
<?xpacket begin="\ufeff" id="W5M0MpCehiHzreSzNTczkc9d"?>
<x:xmpmeta xmlns:x="adobe:ns:meta/">
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
<rdf:Description rdf:about="" xmlns:pdfaid="http://www.aiim.org/pdfa/ns/id/">
<pdfaid:part>1</pdfaid:part>
<pdfaid:conformance>B</pdfaid:conformance>
</rdf:Description>
<rdf:Description rdf:about="" xmlns:xmp="http://ns.adobe.com/xap/1.0/">
<xmp:CreateDate>{made:%Y-%m-%dT%H:%M:%SZ}</xmp:CreateDate>
</rdf:Description>
</rdf:RDF>
</x:xmpmeta>
<?xpacket end="r"?>
"""


def can_be_archived(pdf: "pikepdf.Pdf") -> bool:
    """Whether PDF/A-1b allows all pictures of a file: neither CMYK, 16 bits nor transparency."""
    return all(
        _is_allowed(picture)
        for page in pdf.pages
        for picture in page.resources.get("/XObject", {}).values()
    )


def make_archival(pdf: "pikepdf.Pdf") -> None:
    """Add the profile of colors and the record; it is to be saved as `VERSION`."""
    from pikepdf import Array, Dictionary, Name, Stream, String

    profile = Stream(pdf, srgb_profile(), N=3)
    name = String("sRGB IEC61966-2.1")
    intent = Dictionary(
        Type=Name.OutputIntent,
        S=Name.GTS_PDFA1,
        OutputConditionIdentifier=name,
        Info=name,
        DestOutputProfile=profile,
    )
    pdf.Root.OutputIntents = Array([pdf.make_indirect(intent)])
    made = datetime.now(UTC)
    # Of both places that say so
    date = String(f"{made:D:%Y%m%d%H%M%SZ}")
    pdf.trailer.Info = pdf.make_indirect(Dictionary(CreationDate=date))
    record = _RECORD.format(made=made).encode()
    pdf.Root.Metadata = Stream(pdf, record, Type=Name.Metadata, Subtype=Name.XML)


def _is_allowed(picture: "pikepdf.Object") -> bool:
    """Whether PDF/A-1b allows a picture."""
    if "/SMask" in picture or "/Group" in picture:
        return False
    if int(picture.get("/BitsPerComponent", 1)) > _MOST_BITS:
        return False
    return _is_allowed_space(picture.get("/ColorSpace"))


def _is_allowed_space(space: "pikepdf.Object | None") -> bool:
    """Whether the colors of a picture are those of sRGB, or say by themselves what they are."""
    from pikepdf import Array

    if not isinstance(space, Array):
        return str(space) in _PLAIN
    kind = str(space[0])
    if kind == "/Indexed":
        return _is_allowed_space(space[1])
    if kind != "/ICCBased":
        return False
    profile = space[1].read_bytes()
    return int(space[1].N) in (1, 3) and profile[_VERSION_PLACE] < _NEWER_PROFILE


def srgb_profile() -> bytes:
    """The profile of sRGB in version 2.4 of ICC, the last that PDF 1.4 knows."""
    curve = struct.pack(
        f">4s4xI{_STEPS}H",
        b"curv",
        _STEPS,
        *(round(0xFFFF * _light(step / (_STEPS - 1))) for step in range(_STEPS)),
    )
    title = b"sRGB\0"
    # In ASCII, and neither in Unicode nor for the Macintosh
    described = struct.pack(f">4s4xI{len(title)}s78x", b"desc", len(title), title)
    tags = {
        b"desc": described,
        b"cprt": b"text\0\0\0\0No copyright, use freely\0",
        b"wtpt": _color(_D50),
        b"rXYZ": _color(_PRIMARIES[0]),
        b"gXYZ": _color(_PRIMARIES[1]),
        b"bXYZ": _color(_PRIMARIES[2]),
        b"rTRC": curve,
        b"gTRC": curve,
        b"bTRC": curve,
    }
    start = 128 + 4 + 12 * len(tags)
    index = struct.pack(">I", len(tags))
    body = b""
    places: dict[bytes, int] = {}
    for tag, data in tags.items():
        if data not in places:
            places[data] = start + len(body)
            body += data + bytes(-len(data) % 4)
        index += struct.pack(">4sII", tag, places[data], len(data))
    head = struct.pack(
        ">I4xI4s4s4s6H4s28x12s48x",
        start + len(body),
        0x02400000,
        b"mntr",  # of a screen
        b"RGB ",
        b"XYZ ",
        *(2026, 1, 1, 0, 0, 0),
        b"acsp",
        _color(_D50)[8:],
    )
    return head + index + body


def _light(value: float) -> float:
    """The light of a value of sRGB, both from 0 to 1."""
    if value <= 0.04045:
        return value / 12.92
    return float(((value + 0.055) / 1.055) ** 2.4)


def _color(color: tuple[float, float, float]) -> bytes:
    """A color in XYZ."""
    return struct.pack(">4s4x3i", b"XYZ ", *(round(each * 0x10000) for each in color))
