"""Write a tiny language model with random weights, and serve it with llama.cpp, to test with a real LLM server.

    python tools/make_tiny_llm.py build/tiny.gguf
    python tools/make_tiny_llm.py build/tiny.gguf --serve --port 8080
    LLM_ENDPOINT=http://127.0.0.1:8080/v1 LLM_MODEL=tiny ante hints probe --asks 1000 --no-picture

The model has half a megabyte; nothing is downloaded. Its output is random, but valid under a JSON schema: the server
uses the grammar, tokenizer and slots of a large model. Requires the packages gguf and xllamacpp (extra `dev`).
"""

import argparse
import threading
from pathlib import Path

import gguf
import numpy as np

LAYERS, WIDTH, HIDDEN, HEADS = 2, 64, 128, 4
CONTEXT = 8192
CONTROL = ("<unk>", "<s>", "</s>", "<|im_start|>", "<|im_end|>")
FIRST_BYTE = len(CONTROL)
FIRST_LETTER = FIRST_BYTE + 256
LETTERS = [chr(code) for code in range(32, 127)]
CONSTANT = 3.0  # channel 0 of all tokens, which no layer changes; the output layer uses it as bias
NEVER, SELDOM = -10.0, -0.6
NAME = "tiny"
TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def tokens() -> tuple[list[bytes], list[int]]:
    """Return the vocabulary and the kind of each token: control words, single bytes, printable letters."""
    kinds = gguf.TokenType
    words = [word.encode() for word in CONTROL]
    types = [kinds.UNKNOWN, *[kinds.CONTROL] * (len(CONTROL) - 1)]
    words += [f"<0x{byte:02X}>".encode() for byte in range(256)]
    types += [kinds.BYTE] * 256
    words += ["\u2581".encode() if letter == " " else letter.encode() for letter in LETTERS]
    types += [kinds.NORMAL] * len(LETTERS)
    return words, [int(kind) for kind in types]


def output_bias(vocabulary: int) -> np.ndarray:
    """Return the biases that suppress bytes outside UTF-8 and control words, at the constant channel."""
    bias = np.zeros(vocabulary, dtype=np.float32)
    bias[:FIRST_LETTER] = NEVER
    bias[FIRST_LETTER + LETTERS.index(" ")] = SELDOM
    return bias


def write_model(file: Path, seed: int = 0) -> None:
    """Write a llama of two layers with random weights to this file."""
    rng = np.random.default_rng(seed)
    words, types = tokens()
    writer = gguf.GGUFWriter(str(file), "llama")
    writer.add_name(NAME)
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(HIDDEN)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_vocab_size(len(words))
    writer.add_tokenizer_model("llama")
    writer.add_token_list(words)
    writer.add_token_scores([0.0] * len(words))
    writer.add_token_types(types)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(4)
    writer.add_unk_token_id(0)
    writer.add_add_bos_token(True)
    writer.add_add_space_prefix(False)  # otherwise the grammar does not match the start of the assistant's message
    writer.add_chat_template(TEMPLATE)
    for name, weights in tensors(rng, len(words)).items():
        writer.add_tensor(name, weights)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def tensors(rng: np.random.Generator, vocabulary: int) -> dict[str, np.ndarray]:
    """Return all weights by llama.cpp's names, (outputs, inputs) each."""

    def random(outputs: int, inputs: int, keeps_constant: bool = False) -> np.ndarray:
        weights = (rng.standard_normal((outputs, inputs)) / np.sqrt(inputs)).astype(np.float32)
        if keeps_constant:
            weights[0] = 0.0
        return weights

    ones = np.ones(WIDTH, dtype=np.float32)
    found = {"token_embd.weight": random(vocabulary, WIDTH), "output_norm.weight": ones}
    found["token_embd.weight"][:, 0] = CONSTANT
    found["output.weight"] = random(vocabulary, WIDTH)
    found["output.weight"][:, 0] = output_bias(vocabulary)
    for k in range(LAYERS):
        layer = f"blk.{k}."
        found[layer + "attn_norm.weight"] = found[layer + "ffn_norm.weight"] = ones
        for part in ("q", "k", "v"):
            found[f"{layer}attn_{part}.weight"] = random(WIDTH, WIDTH)
        found[layer + "attn_output.weight"] = random(WIDTH, WIDTH, keeps_constant=True)
        found[layer + "ffn_gate.weight"] = random(HIDDEN, WIDTH)
        found[layer + "ffn_up.weight"] = random(HIDDEN, WIDTH)
        found[layer + "ffn_down.weight"] = random(WIDTH, HIDDEN, keeps_constant=True)
    return found


def serve(file: Path, port: int, slots: int) -> None:
    """Serve until interrupted."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(file)
    params.model_alias = {NAME}
    params.hostnames, params.port = ["127.0.0.1"], port
    params.n_ctx, params.n_parallel = CONTEXT * slots, slots
    params.use_jinja, params.warmup = True, False
    params.cpuparams.n_threads = 1
    server = xllamacpp.Server(params)
    print(f"listening on {server.listening_address}/v1", flush=True)
    threading.Event().wait()


def main() -> None:
    """Write the model, and serve it if requested."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--serve", action="store_true")
    parser.add_argument("--port", type=int, default=8080, help="port; 0 for any free port")
    parser.add_argument("--slots", type=int, default=4, help="concurrent requests")
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    chosen.file.parent.mkdir(parents=True, exist_ok=True)
    write_model(chosen.file, chosen.seed)
    print(f"{chosen.file}: {chosen.file.stat().st_size:,} bytes", flush=True)
    if chosen.serve:
        serve(chosen.file, chosen.port, chosen.slots)


if __name__ == "__main__":
    main()
