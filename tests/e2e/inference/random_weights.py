"""Write a language model with random weights: `python random_weights.py FILE SEED`.

In the form that llama.cpp reads. It knows nothing; what is real about it is the server that runs it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import numpy as np
from gguf import GGUFWriter, TokenType

LAYERS = 1
WIDTH = 64
HEADS = 4
CONTEXT = 8192
WORDS = (
    "the a of to and in is that it for as with on by this be are not which from or an at has have was were can will its they but "
    "question answer option correct wrong true false because therefore rule term case law year score stars reason good bad full"
)
CHARACTERS = "的一是在不了有和人这中大为上个国我以要他时来用们生到作地于出就分对成会可主发年动同工也能下过子说产种面而方后多定行学法所民得经"
MARKS = "，。：；（）、！？"


def list_tokens() -> Iterator[tuple[str, float, TokenType]]:
    """Each token with its score and type: control tokens, bytes, letters, words, characters."""
    yield "<unk>", 0.0, TokenType.UNKNOWN
    yield "<s>", 0.0, TokenType.CONTROL
    yield "</s>", 0.0, TokenType.CONTROL
    for byte in range(256):
        yield f"<0x{byte:02X}>", 0.0, TokenType.BYTE
    pieces = [chr(code) for code in range(33, 127)] + ["▁"]
    # Ends of a JSON object: a judge that is held to a schema would else explain itself without end.
    pieces += [f'{letter}"}}' for letter in "abcdefghijklmnopqrstuvwxyz"]
    pieces += [f"▁{word}" for word in WORDS.split()] + list(CHARACTERS + MARKS)
    for number, piece in enumerate(dict.fromkeys(pieces)):
        yield piece, -float(number), TokenType.NORMAL


def write_model(path: str, seed: int) -> None:
    """The weights, drawn by the seed, as large as those of a trained model of this width."""
    tokens, scores, types = zip(*list_tokens(), strict=True)
    draw = np.random.default_rng(seed)
    writer = GGUFWriter(path, "llama")
    writer.add_name("random")
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(4 * WIDTH)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_tokenizer_model("llama")
    writer.add_token_list(tokens)
    writer.add_token_scores(scores)
    writer.add_token_types(types)
    writer.add_unk_token_id(0)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)

    def add(name: str, *shape: int) -> None:
        weights = draw.normal(0, shape[-1] ** -0.5, shape) if len(shape) > 1 else np.ones(shape)
        writer.add_tensor(f"{name}.weight", weights.astype(np.float32))

    add("token_embd", len(tokens), WIDTH)
    add("output_norm", WIDTH)
    add("output", len(tokens), WIDTH)
    for layer in range(LAYERS):
        for norm in ("attn_norm", "ffn_norm"):
            add(f"blk.{layer}.{norm}", WIDTH)
        for square in ("attn_q", "attn_k", "attn_v", "attn_output"):
            add(f"blk.{layer}.{square}", WIDTH, WIDTH)
        add(f"blk.{layer}.ffn_gate", 4 * WIDTH, WIDTH)
        add(f"blk.{layer}.ffn_up", 4 * WIDTH, WIDTH)
        add(f"blk.{layer}.ffn_down", WIDTH, 4 * WIDTH)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


if __name__ == "__main__":
    write_model(sys.argv[1], int(sys.argv[2]))
