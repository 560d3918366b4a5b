"""The whole idea in one file: draw words, learn to read them, show where the reader looked.

    python examples/one_file.py

This is the algorithm; everything else in this project is speed, accuracy and comfort. It needs
torch and Pillow. Each part names the post that it comes from, its equation, and the file of the
library that does it properly; with the same weights, attention, blocks and losses equal the
library's (tests/examples/test_one_file.py). What is claimed in the posts is tried in
docs/claims.md.

A step takes 0.08 seconds of a CPU core (AMD EPYC), so that 6,000 steps are eight minutes. It
prints, on one thread:

    step   300  loss 2.063 a symbol, 1.667 a token    27 s of CPU
    step   900  loss 0.885 a symbol, 0.870 a token    71 s of CPU
    step  1500  loss 0.347 a symbol, 0.484 a token   116 s of CPU
    step  3000  loss 0.150 a symbol, 0.249 a token   235 s of CPU
    step  6000  loss 0.001 a symbol, 0.078 a token   465 s of CPU
    192 of 205 words read right that it was not trained on

which is 93.7 % [89.5, 96.3] of them, in the one font that it knows.
"""

import argparse
import math
import random
import re
import time
from functools import cache
from pathlib import Path
from pydoc_data.topics import topics
from typing import NamedTuple

import torch
import torch.nn.functional as F
from PIL import Image, ImageDraw, ImageFilter, ImageFont
from torch import Tensor, nn

HEIGHT, WIDTH = 32, 96  # of an image, in pixels
PATCH_HEIGHT, PATCH_WIDTH = 16, 4
ROWS, COLUMNS = HEIGHT // PATCH_HEIGHT, WIDTH // PATCH_WIDTH
CHARSET = "abcdefghijklmnopqrstuvwxyz"
START = END = len(CHARSET)  # one id: the start is only read, the end only written
NONE = len(CHARSET)  # the class of a token under which there is no character
MAXIMUM_LENGTH = 8  # of a word, in characters
PADDING = -1  # in labels, behind the end of a word
DIM, HEADS, MLP_RATIO = 96, 4, 4
ENCODER_DEPTH, DECODER_DEPTH = 3, 2
BATCH_SIZE = 32
LEARNING_RATE = 0.002
WARMUP_STEPS = 50
TOKEN_WEIGHT = 1.0  # of the loss of tokens beside the loss of words


# 1. Words and pictures of them. No data set: what we draw, we learn.
#    The library: vit_str/synthesis/ (fonts, textures, light, lenses, cameras) and vit_str/datasets/


def manual_words() -> tuple[list[str], list[str]]:
    """The words of Python's own manual: those to learn from, and others to be tested with."""
    found = re.findall(r"[a-z]+", " ".join(topics.values()).lower())
    words = sorted({word for word in found if 3 <= len(word) <= MAXIMUM_LENGTH})
    held_out = words[::10]
    return [word for word in words if word not in held_out], held_out


@cache
def font_of(size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    """The one font that comes with Pillow."""
    return ImageFont.load_default(size)


class Drawing(NamedTuple):
    """A picture of a word, and where its characters begin and end, in pixels from the left."""

    image: Image.Image
    edges: list[float]


def draw(word: str, chance: random.Random) -> Drawing:
    """A word in some size, place, angle and colors, more or less sharp."""
    size = chance.randint(14, 24)
    widest = WIDTH - 4
    size = min(size, int(size * widest / font_of(size).getlength(word)))
    font = font_of(size)
    left = chance.uniform(2, WIDTH - 2 - font.getlength(word))
    middle = HEIGHT / 2 + chance.uniform(-3, 3)
    mask = Image.new("L", (WIDTH, HEIGHT))
    ImageDraw.Draw(mask).text((left, middle), word, fill=255, font=font, anchor="lm")
    mask = mask.rotate(chance.uniform(-4, 4), Image.Resampling.BILINEAR)
    mask = mask.filter(ImageFilter.GaussianBlur(chance.uniform(0, 0.8)))
    dark = tuple(chance.randint(0, 100) for _ in "rgb")
    bright = tuple(chance.randint(155, 255) for _ in "rgb")
    ink, paper = chance.sample([dark, bright], 2)
    image = Image.new("RGB", mask.size, paper)
    image.paste(ink, mask=mask)
    edges = [left + font.getlength(word[:end]) for end in range(len(word) + 1)]
    return Drawing(image, edges)


class Batch(NamedTuple):
    """What one step learns from."""

    images: Tensor  # batch, 3, HEIGHT, WIDTH; from -1 to 1
    labels: Tensor  # batch, position: ids of characters, then PADDING
    characters: (
        Tensor  # batch, token: the id of the character under each token, or NONE
    )


def pixels(image: Image.Image) -> Tensor:
    """3 x HEIGHT x WIDTH numbers from -1 to 1."""
    numbers = torch.frombuffer(bytearray(image.tobytes()), dtype=torch.uint8)
    return numbers.view(HEIGHT, WIDTH, 3).permute(2, 0, 1) / 127.5 - 1


def character_under_tokens(word: str, edges: list[float]) -> Tensor:
    """The character at the middle of every column, the same in all rows."""
    middles = (torch.arange(COLUMNS) + 0.5) * PATCH_WIDTH
    places = torch.bucketize(middles, torch.tensor(edges), right=True)
    ids = torch.tensor([NONE, *map(CHARSET.index, word), NONE])
    return ids[places].repeat(ROWS)


def make_batch(words: list[str], chance: random.Random) -> Batch:
    """Draw words, each in a way of its own."""
    drawings = [draw(word, chance) for word in words]
    images = torch.stack([pixels(drawing.image) for drawing in drawings])
    noise = torch.randn(images.shape) * chance.uniform(0, 0.1)
    labels = torch.full((len(words), MAXIMUM_LENGTH), PADDING)
    for row, word in zip(labels, words, strict=True):
        row[: len(word)] = torch.tensor([CHARSET.index(letter) for letter in word])
    characters = [
        character_under_tokens(word, drawing.edges)
        for word, drawing in zip(words, drawings, strict=True)
    ]
    return Batch(images + noise, labels, torch.stack(characters))


# 2. Attention. Post lecture-notes-attention, its last equation: A(Q, K, V) = softmax(QKᵀ / √d_k) V
#    (Vaswani et al. 2017, equation 1); several heads: post self-attention, its last section
#    (section 3.2.2). The library: vit_str/models/attention.py (fused kernels, a cache, a recorder)


def attention_weights(
    queries: Tensor, keys: Tensor, mask: Tensor | None = None
) -> Tensor:
    """How much every query takes of every key: softmax(QKᵀ / √d_k); rows sum to 1.

    Where the mask is False, a query must not look.
    """
    scores = queries @ keys.transpose(-1, -2) / math.sqrt(queries.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf)
    return scores.softmax(-1)


class MultiHeadAttention(nn.Module):
    """Every head asks, with queries of its own, and takes a mean of the values that answer."""

    def __init__(self) -> None:
        super().__init__()
        self.to_queries = nn.Linear(DIM, DIM)
        self.to_keys_values = nn.Linear(DIM, 2 * DIM)
        self.to_output = nn.Linear(DIM, DIM)

    def forward(
        self, x: Tensor, source: Tensor, mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """What ``x`` finds in ``source``, and the weights (batch, head, query, key).

        With ``x`` as its own source it is self-attention; with the image, cross-attention.
        """
        keys, values = self.to_keys_values(source).chunk(2, -1)
        queries, keys, values = (
            part.unflatten(-1, (HEADS, -1)).transpose(1, 2)
            for part in (self.to_queries(x), keys, values)
        )
        weights = attention_weights(queries, keys, mask)
        found = (weights @ values).transpose(1, 2).flatten(2)
        return self.to_output(found), weights


# 3. Blocks. Post transformer-encoder, section 2: attention, then a feed-forward network, each with
#    a residual connection and a norm. The norm stands before and not behind, as in ViT:
#    z' = MSA(LN(z)) + z and z = MLP(LN(z')) + z' (Dosovitskiy et al. 2020, equations 2 and 3).
#    The library: vit_str/models/blocks.py


def feed_forward() -> nn.Sequential:
    """Two layers with a GELU between, token by token."""
    hidden = MLP_RATIO * DIM
    return nn.Sequential(nn.Linear(DIM, hidden), nn.GELU(), nn.Linear(hidden, DIM))


class EncoderBlock(nn.Module):
    """Tokens look at each other, then each thinks for itself."""

    def __init__(self) -> None:
        super().__init__()
        self.attention_norm = nn.LayerNorm(DIM)
        self.attention = MultiHeadAttention()
        self.feed_forward_norm = nn.LayerNorm(DIM)
        self.feed_forward = feed_forward()

    def forward(self, x: Tensor) -> Tensor:
        """Add what attention and feed-forward find."""
        normed = self.attention_norm(x)
        x = x + self.attention(normed, normed)[0]
        changed: Tensor = x + self.feed_forward(self.feed_forward_norm(x))
        return changed


class DecoderBlock(nn.Module):
    """Characters look at those before them, then at the image (post transformer-review).

    In cross-attention the decoder asks and the encoder answers: queries are of the text so far,
    keys and values of the image.
    """

    def __init__(self) -> None:
        super().__init__()
        self.self_attention_norm = nn.LayerNorm(DIM)
        self.self_attention = MultiHeadAttention()
        self.cross_attention_norm = nn.LayerNorm(DIM)
        self.cross_attention = MultiHeadAttention()
        self.feed_forward_norm = nn.LayerNorm(DIM)
        self.feed_forward = feed_forward()

    def forward(
        self, x: Tensor, features: Tensor, causal: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Add what each part finds; also the weights of the cross-attention."""
        normed = self.self_attention_norm(x)
        x = x + self.self_attention(normed, normed, causal)[0]
        found, weights = self.cross_attention(self.cross_attention_norm(x), features)
        x = x + found
        return x + self.feed_forward(self.feed_forward_norm(x)), weights


# 4. The encoder. Post rnn-to-vision-transformer, section "Vision Transformer": an image is cut into
#    patches, which are the words of a sentence: z = [x₁E; x₂E; ...] + E_pos (Dosovitskiy et al.
#    2020, equation 1). Its "positional encoding": sin and cos (Vaswani et al. 2017, section 3.5).
#    The library: vit_str/models/encoders/vit.py (a convolutional stem), vit_str/models/positions.py


def sinusoids(length: int, dim: int) -> Tensor:
    """sin(i / 10000^(2k/dim)) and cos of it, in turn: a vector for every position i."""
    frequencies = 10_000 ** (-torch.arange(0, dim, 2) / dim)
    angles = torch.arange(length)[:, None] * frequencies
    return torch.stack([angles.sin(), angles.cos()], -1).flatten(1)


def grid_sinusoids() -> Tensor:
    """One half of the vector tells the row, the other the column."""
    rows = sinusoids(ROWS, DIM // 2).repeat_interleave(COLUMNS, 0)
    columns = sinusoids(COLUMNS, DIM // 2).repeat(ROWS, 1)
    return torch.cat([rows, columns], -1)


class Encoder(nn.Module):
    """A Vision Transformer: image to features, one for each patch."""

    def __init__(self) -> None:
        super().__init__()
        self.embed_patches = nn.Linear(3 * PATCH_HEIGHT * PATCH_WIDTH, DIM)
        self.embed_positions = nn.Embedding.from_pretrained(
            grid_sinusoids(), freeze=False
        )
        self.blocks = nn.ModuleList(EncoderBlock() for _ in range(ENCODER_DEPTH))
        self.norm = nn.LayerNorm(DIM)

    def forward(self, images: Tensor) -> Tensor:
        """Features (batch, token, DIM), patches in reading order."""
        grid = images.unflatten(3, (COLUMNS, -1)).unflatten(2, (ROWS, -1))
        patches = grid.permute(0, 2, 4, 3, 5, 1).flatten(3).flatten(1, 2)
        x = self.embed_patches(patches) + self.embed_positions.weight
        for block in self.blocks:
            x = block(x)
        features: Tensor = self.norm(x)
        return features


# 5. The decoder, which ViT leaves out: the next symbol, given those before it and the image. No
#    state h(t) = tanh(x_t W_x + h_(t-1) W_h + b) is handed on (post transformer-review, its first
#    equation): every position looks at all before it, at once, and the mask hides those behind it.
#    The library: vit_str/models/decoders/transformer.py (keys and values kept between steps)


class Decoder(nn.Module):
    """Writes a word character by character, looking at the image before each."""

    def __init__(self) -> None:
        super().__init__()
        self.embed_characters = nn.Embedding(len(CHARSET) + 1, DIM)
        self.embed_positions = nn.Embedding(MAXIMUM_LENGTH + 1, DIM)
        nn.init.normal_(self.embed_characters.weight, std=0.02)
        nn.init.normal_(self.embed_positions.weight, std=0.02)
        self.blocks = nn.ModuleList(DecoderBlock() for _ in range(DECODER_DEPTH))
        self.norm = nn.LayerNorm(DIM)
        self.classify = nn.Linear(DIM, len(CHARSET) + 1)

    def forward(self, features: Tensor, inputs: Tensor) -> tuple[Tensor, Tensor]:
        """Scores of the symbol behind every input, and where the last block looked for it."""
        length = inputs.shape[1]
        causal = torch.ones(length, length, dtype=torch.bool).tril()
        x = self.embed_characters(inputs) + self.embed_positions.weight[:length]
        for block in self.blocks:
            x, weights = block(x, features, causal)
        return self.classify(self.norm(x)), weights


class Recognizer(nn.Module):
    """An encoder that looks, a decoder that writes, and a layer that only training needs."""

    def __init__(self) -> None:
        super().__init__()
        self.encoder = Encoder()
        self.decoder = Decoder()
        self.classify_tokens = nn.Linear(DIM, len(CHARSET) + 1)


# 6. The loss: -log p(next symbol | symbols before it, image), all positions at once, the right
#    symbols given (teacher forcing), as the mask hides those to come. The second one asks for the
#    character under every token, so that the encoder learns before the decoder knows where to look.
#    The library: vit_str/models/decoders/autoregressive.py, vit_str/models/auxiliary.py


def word_loss(model: Recognizer, features: Tensor, labels: Tensor) -> Tensor:
    """Mean cross-entropy per symbol, the end included, in nats."""
    is_padding = labels == PADDING
    inputs = F.pad(labels.masked_fill(is_padding, END), (1, 0), value=START)
    targets = F.pad(labels, (0, 1), value=PADDING)
    lengths = (~is_padding).sum(1, keepdim=True)
    targets = targets.scatter(1, lengths, END)
    scores, _ = model.decoder(features, inputs)
    return F.cross_entropy(
        scores.flatten(0, 1), targets.flatten(), ignore_index=PADDING
    )


def token_loss(model: Recognizer, features: Tensor, characters: Tensor) -> Tensor:
    """Mean cross-entropy per token, in nats."""
    scores = model.classify_tokens(features)
    return F.cross_entropy(scores.flatten(0, 1), characters.flatten())


# 7. Training. The library: vit_str/training/ (Muon, averages of weights, resuming, GPUs)


def train(words: list[str], steps: int, chance: random.Random) -> Recognizer:
    """A new model, after some steps; prints how it goes."""
    model = Recognizer()
    optimizer = torch.optim.AdamW(model.parameters(), LEARNING_RATE, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer,
        lambda step: min(1, (step + 1) / WARMUP_STEPS, 2 * (1 - step / steps)),
    )
    for step in range(1, steps + 1):
        batch = make_batch(chance.choices(words, k=BATCH_SIZE), chance)
        features = model.encoder(batch.images)
        of_words = word_loss(model, features, batch.labels)
        of_tokens = token_loss(model, features, batch.characters)
        optimizer.zero_grad()
        (of_words + TOKEN_WEIGHT * of_tokens).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        if step % max(1, steps // 20) == 0:
            print(
                f"step {step:5d}  loss {of_words:.3f} a symbol, {of_tokens:.3f} a token"
                f"  {time.process_time():4.0f} s of CPU",
                flush=True,
            )
    return model


# 8. Reading, greedily. The library: vit_str/decoding/ (beams, drafts, word frequencies)


class Reading(NamedTuple):
    """What is written in an image."""

    text: str
    confidence: float  # the product of the probabilities of its symbols
    looks: Tensor  # character, ROWS, COLUMNS: mean over the heads; each sums to 1


@torch.no_grad()
def read(model: Recognizer, image: Tensor) -> Reading:
    """Write the most probable symbol, look again, until it is the end."""
    features = model.encoder(image[None])
    written = [START]
    confidence = 1.0
    for _ in range(MAXIMUM_LENGTH):
        scores, weights = model.decoder(features, torch.tensor([written]))
        probability, symbol = scores[0, -1].softmax(-1).max(-1)
        confidence *= float(probability)
        if symbol == END:
            break
        written.append(int(symbol))
    text = "".join(CHARSET[symbol] for symbol in written[1:])
    looks = weights[0, :, : len(text)].mean(0).unflatten(-1, (ROWS, COLUMNS))
    return Reading(text, confidence, looks)


# 9. Where it looked. The library: vit_str/analysis/ (distance, rollout, ablation of heads)

SCALE = 2  # screen pixels for a pixel of an image
LOOK = (255, 90, 0)


def draw_looks(batch: Batch, readings: list[Reading]) -> Image.Image:
    """A row for each word: the image and its reading, then one copy for each character."""
    tile_width, tile_height = SCALE * WIDTH + 4, SCALE * HEIGHT + 24
    size = tile_width * (MAXIMUM_LENGTH + 1), tile_height * len(readings)
    sheet = Image.new("RGB", size, "white")
    pen = ImageDraw.Draw(sheet)
    for row, (image, reading) in enumerate(zip(batch.images, readings, strict=True)):
        title = f"{reading.text}  {reading.confidence:.2f}"
        looks = zip(reading.text, reading.looks, strict=True)
        tiles = [(title, enlarged(image))]
        tiles += [(letter, with_look(enlarged(image), look)) for letter, look in looks]
        for column, (caption, tile) in enumerate(tiles):
            left, top = column * tile_width, row * tile_height
            pen.text((left, top), caption, fill="black", font=font_of(16))
            sheet.paste(tile, (left, top + 20))
    return sheet


def enlarged(image: Tensor) -> Image.Image:
    """What `pixels` made numbers of, for the screen."""
    numbers = ((image.clamp(-1, 1) + 1) * 127.5).byte().permute(1, 2, 0)
    picture = Image.frombytes("RGB", (WIDTH, HEIGHT), bytes(numbers.flatten().tolist()))
    return picture.resize((SCALE * WIDTH, SCALE * HEIGHT))


def with_look(picture: Image.Image, look: Tensor) -> Image.Image:
    """Orange where the weights are, most where they are largest."""
    strength = (look / look.max() * 200).byte().flatten().tolist()
    mask = Image.frombytes("L", (COLUMNS, ROWS), bytes(strength))
    mask = mask.resize(picture.size, Image.Resampling.BOX)
    return Image.composite(Image.new("RGB", picture.size, LOOK), picture, mask)


def main() -> None:
    """Train, read words that it was not trained on, and draw where it looked."""
    parser = argparse.ArgumentParser(description="Learn to read words, from nothing.")
    parser.add_argument("--steps", type=int, default=6000, help="of training")
    parser.add_argument("--out", type=Path, default=Path("one_file.png"))
    options = parser.parse_args()

    torch.manual_seed(0)
    chance = random.Random(0)
    words, held_out = manual_words()
    model = train(words, options.steps, chance)

    batch = make_batch(held_out, chance)
    readings = [read(model, image) for image in batch.images]
    right = sum(map(str.__eq__, held_out, (reading.text for reading in readings)))
    print(f"{right} of {len(held_out)} words read right that it was not trained on")
    some = chance.sample(range(len(held_out)), 8)
    shown = Batch(*(part[some] for part in batch))
    draw_looks(shown, [readings[index] for index in some]).save(options.out)
    print(f"where it looked: {options.out}")


if __name__ == "__main__":
    main()
