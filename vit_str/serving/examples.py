"""Examples of requests and answers, for ``/docs``."""

from typing import Any

_ERROR = {"example": {"error": "too many pictures are in progress; try again in a second"}}
_ERRORS: dict[int | str, dict[str, Any]] = {
    status: {"description": description, "content": {"application/json": _ERROR}}
    for status, description in {
        400: "A form that cannot be understood",
        401: "The key is missing or wrong",
        408: "The request took too long to arrive",
        413: "Too many bytes",
        422: "Too many pixels, or options that do not fit the model",
        503: "Too much is in progress; try again after Retry-After seconds",
        504: "Not read before the deadline",
    }.items()
}


def _answers(example: dict[str, Any]) -> dict[int | str, dict[str, Any]]:
    read = {"description": "What was read", "content": {"application/json": {"example": example}}}
    return {200: read, **_ERRORS}


READ_ANSWERS = _answers(
    {
        "readings": [
            {
                "path": "word.png",
                "text": "of",
                "confidence": 0.981204,
                "characters": [
                    {"character": "o", "confidence": 0.990112, "box": [3.1, 4.0, 31.4, 27.6]},
                    {"character": "f", "confidence": 0.992871, "box": [31.4, 2.9, 58.8, 27.9]},
                ],
            },
            {
                "path": "cut.png",
                "text": None,
                "confidence": None,
                "error": "empty, 0 bytes; save or download it again",
            },
        ]
    }
)
PAGE_ANSWERS = _answers(
    {
        "path": "street.jpg",
        "width": 1280,
        "height": 720,
        "text": "EXIT",
        "words": [
            {
                "text": "EXIT",
                "confidence": 0.97,
                "polygon": [[10.0, 20.0], [90.0, 21.0], [90.0, 45.0], [10.0, 44.0]],
                "block": 0,
                "line": 0,
                "characters": [],
            }
        ],
        "error": None,
        "page": 1,
    }
)
PAGE_ANSWERS[501] = {"description": "This server reads no whole pictures"}

_FILE = {"type": "string", "format": "binary"}
PICTURES: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["files"],
                    "properties": {
                        "files": {"type": "array", "items": _FILE},
                        "lexicon": {
                            "type": "string",
                            "description": "read only these words, one a line",
                        },
                    },
                }
            },
            "image/*": {"schema": _FILE},
        },
    }
}
