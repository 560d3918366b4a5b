"""A font without strokes, in which text is set behind the picture of a page.

Every character is as wide, and is told by its code in UTF-16; `text_layer` says where text is set.
"""

import struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pikepdf

CHARACTER_WIDTH = 0.5
"""Width of every character, over the size of the font."""
_UNITS = 1000  # of a size
_ASCENT = 1069  # as of fonts for all languages, whose letters carry marks
_DESCENT = -293
_CAPITALS = 700
_CODES = 1 << 16
_MOST_RANGES = 100  # in a block of such a table
_BEGIN = """\
/CIDInit /ProcSet findresource begin
12 dict begin
begincmap
/CIDSystemInfo << /Registry (Adobe) /Ordering (UCS) /Supplement 0 >> def
/CMapName /Adobe-Identity-UCS def
/CMapType 2 def
1 begincodespacerange
<0000> <FFFF>
endcodespacerange
"""
_END = """\
endcmap
CMapName currentdict /CMap defineresource pop
end
end
"""


def encoded(text: str) -> bytes:
    """A text as a string of a page's content in this font."""
    return f"<{text.encode('utf-16-be', 'replace').hex()}>".encode()


def add_font(pdf: "pikepdf.Pdf") -> "pikepdf.Object":
    """Add the font to a file; returns what pages refer to."""
    from pikepdf import Array, Dictionary, Name, Stream, String

    descriptor = Dictionary(
        Type=Name.FontDescriptor,
        FontName=Name.Glyphless,
        Flags=5,  # of one width, and with codes of its own
        FontBBox=Array([0, _DESCENT, round(_UNITS * CHARACTER_WIDTH), _ASCENT]),
        ItalicAngle=0,
        Ascent=_ASCENT,
        Descent=_DESCENT,
        CapHeight=_CAPITALS,
        StemV=80,
        FontFile2=Stream(pdf, _true_type()),
    )
    descendant = Dictionary(
        Type=Name.Font,
        Subtype=Name.CIDFontType2,
        BaseFont=Name.Glyphless,
        CIDSystemInfo=Dictionary(
            Registry=String("Adobe"), Ordering=String("Identity"), Supplement=0
        ),
        FontDescriptor=pdf.make_indirect(descriptor),
        DW=round(_UNITS * CHARACTER_WIDTH),
        CIDToGIDMap=Stream(pdf, bytes(2 * _CODES)),  # all to the only glyph
    )
    font = Dictionary(
        Type=Name.Font,
        Subtype=Name.Type0,
        BaseFont=Name.Glyphless,
        Encoding=Name("/Identity-H"),
        DescendantFonts=Array([pdf.make_indirect(descendant)]),
        ToUnicode=Stream(pdf, _to_unicode()),
    )
    return pdf.make_indirect(font)


def _to_unicode() -> bytes:
    """Says that codes are those of Unicode: a range ends with its first byte (PDF 32000-1, 9.10.3).

    PDFium knows no letters of one that does not.
    """
    ranges = [f"<{high:02X}00> <{high:02X}FF> <{high:02X}00>" for high in range(256)]
    text = _BEGIN
    for start in range(0, len(ranges), _MOST_RANGES):
        block = ranges[start : start + _MOST_RANGES]
        text += "\n".join([f"{len(block)} beginbfrange", *block, "endbfrange\n"])
    return (text + _END).encode()


def _true_type() -> bytes:
    """A TrueType file with one glyph without ink, and the tables that PDF files ask for.

    The glyph is a line to and fro, as PDFium passes over single characters that fill no box.
    """
    width = round(_UNITS * CHARACTER_WIDTH)
    head = struct.pack(
        ">IIIIHHqqhhhhHHhhh",
        0x10000,  # version of the table
        0x10000,  # of the font
        0,  # checksum, which nobody looks at in a PDF file
        0x5F0F3CF5,  # the number of all such tables
        0,
        _UNITS,
        0,  # made
        0,  # changed
        0,
        _DESCENT,
        width,
        _ASCENT,
        0,  # regular
        3,  # smallest size that can be read, in pixels
        2,
        0,  # short places
        0,
    )
    metrics = 1  # in hmtx
    lines = (_ASCENT, _DESCENT, 0)
    corners = (0, 0, width, _CAPITALS)
    on_curve = 1
    glyph = struct.pack(
        ">h4hHHBB4h", 1, *corners, 1, 0, on_curve, on_curve, 0, width, 0, _CAPITALS
    )
    hhea = struct.pack(
        ">IhhhH11hH", 0x10000, *lines, width, *(0, 0, width, 1, *[0] * 7), metrics
    )
    maxp = struct.pack(">IH13H", 0x10000, 1, *(2, 1, 0, 0, 1, *[0] * 8))
    tables = {
        b"glyf": glyph,
        b"head": head,
        b"hhea": hhea,
        b"hmtx": struct.pack(">Hh", width, 0),
        b"loca": struct.pack(">HH", 0, len(glyph) // 2),
        b"maxp": maxp,
    }
    place = 12 + 16 * len(tables)
    index = struct.pack(">IHHHH", 0x10000, len(tables), 64, 2, 16 * len(tables) - 64)
    body = b""
    for tag, data in tables.items():
        index += struct.pack(
            ">4sIII", tag, _checksum(data), place + len(body), len(data)
        )
        body += data + bytes(-len(data) % 4)
    return index + body


def _checksum(data: bytes) -> int:
    """The sum of a table as numbers of 32 bits."""
    padded = data + bytes(-len(data) % 4)
    return sum(struct.unpack(f">{len(padded) // 4}I", padded)) & 0xFFFFFFFF
