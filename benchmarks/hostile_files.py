"""Files that are small and take long to decode, or much memory.

A JPEG of many scans, a GIF of many frames, a JPEG 2000 of many parts, a TIFF of one tile, pictures
of many segments, chunks and strips, PDFs.

None takes long to make. The benchmarks that look for faults and the tests share them.
"""

import io
import re
import struct
import zlib

from PIL import Image

# A palette of black and white
_SCREEN = b"GIF89a%b%b\xf0\x00\x00\x00\x00\x00\xff\xff\xff"
_FRAME = (
    b"\x21\xf9\x04\x04\x0a\x00\x00\x00"  # each stays for a tenth of a second
    b"\x2c\x00\x00\x00\x00\x01\x00\x01\x00\x00"  # 1 x 1 pixel, at the upper left corner
    b"\x02\x02\x44\x01\x00"  # which is white
)
_PDF = b"""%%PDF-1.4
1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj
2 0 obj<</Type/Pages/Count 1/Kids[3 0 R]>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R
/Resources<</XObject<</I 5 0 R>>/Font<</F<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>>>endobj
4 0 obj<</Length %d>>stream
%b
endstream endobj
5 0 obj<</Type/XObject/Subtype/Image/Width 600 /Height 700 /ColorSpace/DeviceRGB
/BitsPerComponent 8 %b /Length %d>>stream
%b
endstream endobj
trailer<</Root 1 0 R>>
"""
_STROKES = b"[3 1] 0 d 5 w\n" + 300_000 * b"0 0 m 612 792 100 900 500 3 c S\n"


def jpeg_of_scans(size: tuple[int, int], scans: int) -> bytes:
    """A progressive JPEG, white, whose last table and scan are repeated until there are so many."""
    file = io.BytesIO()
    Image.new("L", size, "white").save(file, "JPEG", progressive=True)
    data = file.getvalue()
    starts = [
        match.start() for match in re.finditer(b"\xff\xc4|\xff\xda|\xff\xd9", data)
    ]
    # A table, its scan, and then the end of the image
    last = data[starts[-3] : starts[-1]]
    assert last.startswith(b"\xff\xc4")
    more = scans - data.count(b"\xff\xda")
    return data[: starts[-1]] + more * last + data[starts[-1] :]


def gif_of_frames(side: int, frames: int) -> bytes:
    """A GIF whose frames are 1 x 1 pixel each, on a square screen."""
    edge = side.to_bytes(2, "little")
    return _SCREEN % (edge, edge) + frames * _FRAME + b"\x3b"


def jp2_of_parts(side: int) -> bytes:
    """A white JPEG 2000 that is said to be coded in parts of 2 x 2 pixels (precincts)."""
    file = io.BytesIO()
    Image.new("RGB", (side, side), "white").save(file, "JPEG2000", no_jp2=True)
    data = bytearray(file.getvalue())
    coding = data.index(b"\xff\x52")
    (length,) = struct.unpack_from(">H", data, coding + 2)
    sizes = bytes([0x11]) * (data[coding + 9] + 1)  # 2^1 x 2^1, of each level
    struct.pack_into(">H", data, coding + 2, length + len(sizes))
    data[coding + 4] |= 1  # sizes of parts follow
    data[coding + 2 + length : coding + 2 + length] = sizes
    tile = data.index(b"\xff\x90")
    struct.pack_into(">I", data, tile + 6, 0)  # which goes on to the end
    return bytes(data)


def tiff_of_tile(side: int, tile: int) -> bytes:
    """A small gray TIFF whose only tile is much larger than it."""
    # Of megabytes of zeros, each a block that stands alone
    megabytes = -(-tile * tile >> 20)
    packer = zlib.compressobj(9, wbits=-zlib.MAX_WBITS)
    block = packer.compress(bytes(1 << 20)) + packer.flush(zlib.Z_FULL_FLUSH)
    checksum = ((megabytes << 20) % 65521 << 16 | 1).to_bytes(4)
    content = b"\x78\xda" + megabytes * block + b"\x03\x00" + checksum
    entries = {256: side, 257: side, 258: 8, 259: 8, 262: 1, 277: 1}
    entries |= {322: tile, 323: tile, 324: 0, 325: len(content)}
    entries[324] = 8 + 2 + 12 * len(entries) + 4
    head = struct.pack("<2sHIH", b"II", 42, 8, len(entries))
    for tag, value in entries.items():
        head += struct.pack("<HHII", tag, 4, 1, value)
    return head + bytes(4) + content


def jpeg_of_segments(count: int) -> bytes:
    """A small JPEG with empty comments before its pixels."""
    file = io.BytesIO()
    Image.new("L", (160, 40), "white").save(file, "JPEG")
    data = file.getvalue()
    return data[:2] + count * b"\xff\xfe\x00\x02" + data[2:]


def png_of_chunks(count: int) -> bytes:
    """A small PNG with empty chunks that nobody knows before its pixels."""
    file = io.BytesIO()
    Image.new("L", (160, 40), "white").save(file, "PNG")
    data = file.getvalue()
    pixels = data.index(b"IDAT") - 4
    name = b"prVt"
    chunk = bytes(4) + name + zlib.crc32(name).to_bytes(4)
    return data[:pixels] + count * chunk + data[pixels:]


def tiff_of_strips(count: int, big: bool = False) -> bytes:
    """A small gray TIFF that says so many strips, with two bytes for each place and size."""
    head = struct.pack("<2sHHHQ", b"II", 43, 8, 0, 16)
    number = "<Q"
    entry = "<HHQQ"
    if not big:
        head = struct.pack("<2sHI", b"II", 42, 8)
        number = "<H"
        entry = "<HHII"
    values = {256: 160, 257: 40, 258: 8, 259: 1, 262: 1, 277: 1, 278: 1}
    tags = len(values) + 2
    end = len(head) + struct.calcsize(number) + tags * struct.calcsize(entry)
    places = end + (8 if big else 4)
    entries = [(tag, 4, 1, value) for tag, value in values.items()]
    entries += [(273, 3, count, places), (279, 3, count, places + 2 * count)]
    packed = b"".join(struct.pack(entry, *each) for each in sorted(entries))
    return b"".join(
        [
            head,
            struct.pack(number, tags),
            packed,
            bytes(places - end),
            2 * count * b"d\0",
        ]
    )


def pdf_of_strokes() -> bytes:
    """A page of dashed curves that takes PDFium minutes."""
    return _PDF % (len(_STROKES), _STROKES, b"", 0, b"")


def pdf_of_image(coding: bytes, data: bytes, text: bytes = b"") -> bytes:
    """A page that an image fills, as it is coded, with a line of text above it."""
    content = b"q 500 0 0 600 50 50 cm /I Do Q BT /F 30 Tf 50 700 Td (%b) Tj ET" % text
    return _PDF % (len(content), content, b"/Filter/" + coding, len(data), data)
