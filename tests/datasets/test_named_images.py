"""Images that are named by what they say."""

from vit_str.datasets import LabeledWord, open_stream, open_words


def test_names_are_labels(tmp_path, words_of):
    names = (
        "115_Lube_45484.jpg",
        "a b.png",
        "more/word_3.png",
        "word.png",
        "word_17.png",
        ".hidden.png",
        ".more/x.png",
    )
    for name, word in zip(names, words_of(7), strict=True):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(word.image)
    (tmp_path / "notes.txt").write_text("no image")
    source = open_words(tmp_path, "names")
    words = [word for word in source if isinstance(word, LabeledWord)]
    assert sorted((word.name, word.label) for word in words) == [
        ("115_Lube_45484.jpg", "Lube"),
        ("a b.png", "a b"),
        ("more/word_3.png", "word"),
        ("word.png", "word"),
        ("word_17.png", "word"),
    ]
    assert list(open_stream(tmp_path, "names")) == [source[place] for place in range(5)]
