"""Open weights on a pool of inference servers on a GPU, one killed; embeddings there.

    python -m tests.benchmarks.gpu_pool [--servers 2] [--answers 2000] [--no-kill] [--device cuda]
    python -m tests.benchmarks.gpu_pool --embed FOLDER|large [--texts 20000] [--device cuda]

The servers are those of `transformers serve`, with weights drawn at random: what they say means nothing, what is measured is
the form of the calls, how many are answered, and the client's CPU. `--device cpu --layers 2 --width 64` tries it on any machine.
`large` is a random encoder of the size of bge-large-zh; a folder holds a real one.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import dataclasses
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.benchmarks.ingest_papers import make_paper

if TYPE_CHECKING:
    from tokenizers import Tokenizer

SEATS = 50
MAX_TOKENS = 128
START_S = 120.0
TEMPLATE = "{% for message in messages %}<s>{{ message.role }}\n{{ message.content }}</s>\n{% endfor %}<s>assistant\n"


def main(arguments: Sequence[str] = ()) -> None:
    """Print one line per figure."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--servers", type=int, default=2)
    parser.add_argument("--answers", type=int, default=2000)
    parser.add_argument("--no-kill", action="store_true")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--layers", type=int, default=28)
    parser.add_argument("--width", type=int, default=1536)
    parser.add_argument("--server-option", action="append", default=[], help="handed to `transformers serve`")
    parser.add_argument("--embed")
    parser.add_argument("--texts", type=int, default=20_000)
    chosen = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        if chosen.embed:
            measure_embedding(Path(folder), chosen.embed, chosen.texts, chosen.device)
        else:
            measure_pool(Path(folder), chosen)


def measure_pool(folder: Path, chosen: argparse.Namespace) -> None:
    """Sit a run at the pool, kill a server a third of the way, and print what came of it."""
    weights = folder / "weights"
    write_language_model(weights, chosen.layers, chosen.width)
    with serving(folder, weights, chosen) as servers:
        print(
            "\n".join(f"{name:32s}{value}" for name, value in sit(folder, weights, servers, chosen).items())
        )


def sit(
    folder: Path, weights: Path, servers: dict[str, subprocess.Popen[bytes]], chosen: argparse.Namespace
) -> dict[str, str]:
    """Plan a run of fifty seats, sit it, and read from the ledger what became of it."""
    from sqlalchemy import func, select

    from tasks.models import ModelClient
    from tests.tasks.exam.kit import sit_sessions
    from tests.tasks.exam.world import make_bank, make_model, make_registry, make_settings, publish
    from warehouse.ledger.engine.opening import open_ledger
    from warehouse.ledger.engine.tables import llm_calls

    urls = list(servers)
    endpoint: dict[str, Any] = {
        "base_url": urls[0],
        "replica_urls": tuple(urls[1:]),
        "provider": "pool",
        "endpoint_model": str(weights),
        "parameters": {"max_tokens": MAX_TOKENS, "temperature": 0},
    }
    each = max(2, chosen.answers // SEATS // 2 * 2)
    disciplines = ("Engineering", "Law")
    settings = make_settings(
        folder / "home",
        set_size=each,
        disciplines=disciplines,
        call_concurrency=SEATS,
        lasting_sets=1,
        set_policy="shared",
    )
    models = [make_model(f"m{number}") for number in range(SEATS - 1)]
    models.append(make_model("rho", roles=("candidate", "reference")))
    registry = make_registry(*(dataclasses.replace(model, **endpoint) for model in models))
    bank = make_bank(dict.fromkeys(disciplines, each), variants=0)

    async def run() -> tuple[float, float]:
        async with ModelClient(ledger, settings) as client:
            killer = asyncio.create_task(kill_one())
            cpu, wall = time.process_time(), time.perf_counter()
            report = await sit_sessions(ledger, settings, registry, client, plan.run_id)
            killer.cancel()
            assert report.is_run_closed, report
            return time.process_time() - cpu, time.perf_counter() - wall

    async def kill_one() -> None:
        while not chosen.no_kill:
            await asyncio.sleep(0.2)
            with ledger.read() as connection:
                done = connection.scalar(select(func.count()).where(llm_calls.c.status == "done")) or 0
            if done > chosen.answers / 3:
                servers[urls[-1]].send_signal(signal.SIGKILL)
                return

    with open_ledger(settings.ledger_address) as ledger:
        plan = publish(ledger, settings, registry, bank, run_id="pool", candidates=[m.name for m in models])
        cpu, wall = asyncio.run(run())
        with ledger.read() as connection:
            calls = connection.execute(select(llm_calls)).mappings().all()
    count = len(calls)
    tokens = sum(call["output_tokens"] or 0 for call in calls)
    return {
        "servers, killed": f"{len(urls)}, {0 if chosen.no_kill else 1}",
        "calls by status": str(dict(Counter(call["status"] for call in calls))),
        "calls by attempts": str(dict(Counter(call["attempts"] for call in calls))),
        "answers a second": f"{count / wall:.1f}",
        "tokens a second": f"{tokens / wall:.0f}",
        "client's CPU ms an answer": f"{cpu / count * 1e3:.2f}",
    }


@contextlib.contextmanager
def serving(
    folder: Path, weights: Path, chosen: argparse.Namespace
) -> Iterator[dict[str, subprocess.Popen[bytes]]]:
    """Start the servers and wait for them; each by its address."""
    servers: dict[str, subprocess.Popen[bytes]] = {}
    environment = os.environ | {"HF_HUB_OFFLINE": "1"}
    device, count = chosen.device, chosen.servers
    try:
        for number in range(count):
            with socket.create_server(("127.0.0.1", 0)) as free:
                port = free.getsockname()[1]
            command = [sys.executable, "-m", "transformers.cli.transformers", "serve", str(weights)]
            command += ["--host", "127.0.0.1", "--port", str(port), "--device", device]
            command += ["--dtype", "bfloat16" if device == "cuda" else "float32", "--continuous-batching"]
            command += ["--cb-max-memory-percent", f"{0.8 / count:.2f}"] if device == "cuda" else []
            command += chosen.server_option
            with (folder / f"server-{number}.log").open("wb") as log:
                server = subprocess.Popen(command, stdout=log, stderr=log, env=environment)
            servers[f"http://127.0.0.1:{port}/v1"] = server
        until = time.monotonic() + START_S
        for number, (url, server) in enumerate(servers.items()):
            while not _answers(url):
                written = (folder / f"server-{number}.log").read_text()
                assert server.poll() is None and time.monotonic() < until, written[-3000:]
                time.sleep(0.5)
        yield servers
    finally:
        for server in servers.values():
            server.kill()
            server.wait()


def _answers(url: str) -> bool:
    try:
        urllib.request.urlopen(f"{url.removesuffix('/v1')}/health", timeout=5).close()
    except OSError:
        return False
    return True


def write_language_model(folder: Path, layers: int, width: int) -> None:
    """A model of Qwen2's form with random weights and a tokenizer taught on made papers."""
    import torch
    from transformers import PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM

    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=teach_tokenizer(["<s>", "</s>"]),
        bos_token="<s>",
        eos_token="</s>",
        pad_token="</s>",
        chat_template=TEMPLATE,
    )
    torch.manual_seed(7)
    config = Qwen2Config(
        vocab_size=len(tokenizer),
        hidden_size=width,
        intermediate_size=width * 35 // 6,
        num_hidden_layers=layers,
        num_attention_heads=width // 128 or 4,
        num_key_value_heads=2,
        max_position_embeddings=8192,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    model = Qwen2ForCausalLM(config).to(torch.bfloat16)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    print(f"{sum(part.numel() for part in model.parameters()) / 1e9:.2f} billion random weights")


def teach_tokenizer(special: list[str]) -> Tokenizer:
    """Byte pairs of the made papers of both languages."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=8000, special_tokens=special, initial_alphabet=alphabet)
    tokenizer.train_from_iterator(make_texts(400), trainer)
    return tokenizer


def make_texts(count: int, joined: int = 4) -> list[str]:
    """So many different texts of made questions, Chinese and English by turns."""
    found: list[list[str]] = []
    for language in ("zh", "en"):
        paper = make_paper(count * joined * 150 + 2000, 7, language)
        questions = [f"{question.stem} {' '.join(question.options)}" for question in paper.questions]
        found.append([" ".join(questions[at : at + joined]) for at in range(0, len(questions), joined)])
    return [text for pair in zip(*found, strict=False) for text in pair][:count]


def measure_embedding(folder: Path, model: str, count: int, device: str) -> None:
    """Embed texts in both precisions, and print how fast and how far apart."""
    from tasks.gscore import load_embedder

    if model == "large":
        write_encoder(folder / "encoder")
        model = str(folder / "encoder")
    made = make_texts(256 + count)
    warm_up, texts = made[:256], made[256:]
    references = texts[1:] + texts[:1]
    scores = {}
    for half in (False, True) if device == "cuda" else (False,):
        embedder = load_embedder(model, batch_size=256, device=device, half_precision=half)
        embedder.score_similarity(warm_up, warm_up)
        known, cpu, wall = embedder.encoded_texts, time.process_time(), time.perf_counter()
        scores[half] = embedder.score_similarity(references, texts).values
        cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
        number = embedder.encoded_texts - known
        precision = "float16" if half else "float32"
        print(
            f"{precision}: {number:,} texts, {number / wall:,.0f} a second, {cpu / number * 1e3:.3f} CPU ms each"
        )
    if len(scores) == 2:
        print(f"cosines differ by at most {abs(scores[True] - scores[False]).max():.5f}")


def write_encoder(folder: Path) -> None:
    """An encoder of the size of bge-large-zh, with random weights."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.models import Pooling, Transformer
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    special = {"unk_token": "[UNK]", "pad_token": "[PAD]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=teach_tokenizer(list(special.values())), **special)
    torch.manual_seed(7)
    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=1024,
        num_hidden_layers=24,
        num_attention_heads=16,
        intermediate_size=4096,
        pad_token_id=tokenizer.pad_token_id,
    )
    BertModel(config).save_pretrained(folder / "bert")
    tokenizer.save_pretrained(folder / "bert")
    part = Transformer(str(folder / "bert"), max_seq_length=512)
    SentenceTransformer(modules=[part, Pooling(config.hidden_size, "cls")]).save(str(folder))


if __name__ == "__main__":
    main(sys.argv[1:])
