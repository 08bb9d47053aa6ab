"""One contract for every embedder; each kind also with its own faults."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from zlib import crc32

import numpy as np
import pytest

from egomem.errors import ConfigError, ModelError, WeightsError
from egomem.models.embedders import (
    Embedder,
    EndpointEmbedder,
    Vectors,
    embedder,
    normalise_rows,
    prompt_prefixes,
)

TEXTS = ["washes the red cup", "", "a door", "washes the red cup", "Ünïcode ☕ 猫", "x " * 700]


class Hashing:
    """Signed hashes of words: for tests only."""

    name = "hashing"
    dimensions = 32

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Vectors:
        rows = np.zeros((len(texts), self.dimensions))
        for row, text in zip(rows, texts, strict=True):
            for word in text.split():
                row[crc32(word.encode()) % self.dimensions] += 1
        return normalise_rows(rows)


class _Server(BaseHTTPRequestHandler):
    """Answers as OpenAI's endpoint does, rows in reverse; `mode` makes it fail."""

    mode = "good"
    asked: list[dict] = []  # noqa: RUF012

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.asked.append(body | {"key": self.headers.get("Authorization"), "path": self.path})
        vectors = Hashing().embed(body["input"]) * 3 + 0.25
        data = [{"index": i, "embedding": v.tolist()} for i, v in enumerate(vectors)][::-1]
        reply: object = {"data": data}
        if self.mode == "short":
            reply = {"data": data[1:]}
        elif self.mode == "other":
            reply = {"result": []}
        elif self.mode == "nan":
            reply = {"data": [{"index": 0, "embedding": [float("nan")] * 4}]}
        content = b"<html>" if self.mode == "html" else json.dumps(reply).encode()
        self.send_response(429 if self.mode == "busy" else 200)
        self.end_headers()
        self.wfile.write(b'{"error": "slow down"}' if self.mode == "busy" else content)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[type[_Server]]:
    class Server(_Server):
        asked: list[dict] = []  # noqa: RUF012

    with ThreadingHTTPServer(("127.0.0.1", 0), Server) as http:
        Server.url = f"http://127.0.0.1:{http.server_port}/v1"
        thread = threading.Thread(target=http.serve_forever, args=(0.01,))
        thread.start()
        yield Server
        http.shutdown()
        thread.join()


def field(number: int, value: int | bytes | str) -> bytes:
    """A field of a protocol buffer: a number, or bytes with their length."""

    def varint(n: int) -> bytes:
        return bytes([n & 127 | 128]) + varint(n >> 7) if n > 127 else bytes([n])

    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    content = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(content)) + content


def table_model(table: np.ndarray) -> bytes:
    """ONNX that gathers rows of a table by `input_ids`: token vectors, as an encoder gives."""

    def value(name: str, kind: int, *dimensions: str) -> bytes:
        shape = b"".join(field(1, field(2, d)) for d in dimensions)
        return field(1, name) + field(2, field(1, field(1, kind) + field(2, shape)))

    node = field(1, "table") + field(1, "input_ids") + field(2, "tokens") + field(4, "Gather")
    payload = b"".join(field(1, n) for n in table.shape)
    payload += field(2, 1) + field(8, "table") + field(9, table.astype("<f4").tobytes())
    graph = field(1, node) + field(2, "tiny") + field(5, payload)
    graph += field(11, value("input_ids", 7, "b", "t")) + field(
        12, value("tokens", 1, "b", "t", "d")
    )
    return field(1, 9) + field(7, graph) + field(8, field(1, "") + field(2, 20))


@pytest.fixture
def onnx_folder(tmp_path: Path) -> Path:
    """A tiny model of eight words, whose token vectors the embedder has to average."""
    pytest.importorskip("onnxruntime")
    tokenizers = pytest.importorskip("tokenizers")
    words = {"[UNK]": 0, "[PAD]": 1, "washes": 2, "the": 3, "red": 4, "cup": 5, "a": 6, "door": 7}
    table = np.random.default_rng(0).normal(size=(len(words), 8)).astype(np.float32)
    (tmp_path / "model.onnx").write_bytes(table_model(table))
    np.save(tmp_path / "table.npy", table)
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel(words, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    return tmp_path


@pytest.fixture(params=["hashing", "endpoint", "onnx"])
def model(request: pytest.FixtureRequest) -> Embedder:
    if request.param == "hashing":
        return Hashing()
    if request.param == "endpoint":
        return embedder(f"some-model@{request.getfixturevalue('server').url}")
    return embedder(str(request.getfixturevalue("onnx_folder")))


def test_contract(model: Embedder):
    assert isinstance(model, Embedder)
    assert model.name
    rows = model.embed(TEXTS)
    assert rows.dtype == np.float32
    assert rows.shape == (len(TEXTS), model.dimensions)
    lengths = np.linalg.norm(rows, axis=1)
    assert lengths[[0, 2, 3, 4, 5]] == pytest.approx(1, abs=1e-5)
    assert lengths[1] == 0
    assert np.array_equal(rows[0], rows[3])
    assert model.embed([]).shape == (0, model.dimensions)
    assert model.embed(["a door"], query=True).shape == (1, model.dimensions)


def test_a_text_has_one_vector_whatever_it_is_batched_with(model: Embedder):
    together = model.embed([*TEXTS, *[f"the cup {i}" for i in range(150)]])
    for i, text in enumerate(TEXTS):
        assert model.embed([text])[0] == pytest.approx(together[i], abs=1e-5)


# ------------------------------------------------------------------------------------- endpoints


def test_rows_are_put_in_order_and_an_empty_text_is_not_sent(server):
    model = EndpointEmbedder("m", server.url, key="secret")
    rows = model.embed(["a b", "", "c"])
    sent = [text for body in server.asked for text in body["input"]]
    assert "" not in sent
    assert rows[0] == pytest.approx(
        normalise_rows(Hashing().embed(["a b"]) * 3 + 0.25)[0], abs=1e-6
    )
    assert server.asked[-1]["key"] == "Bearer secret"
    assert server.asked[-1]["path"] == "/v1/embeddings"
    assert server.asked[-1]["model"] == "m"


def test_prefixes_go_before_questions_and_documents(server):
    model = embedder(f"intfloat/e5-small@{server.url}")
    model.embed(["cup"])
    model.embed(["cup"], query=True)
    assert [body["input"] for body in server.asked[-2:]] == [["passage: cup"], ["query: cup"]]


@pytest.mark.parametrize(
    ("name", "query"),
    [
        ("intfloat/multilingual-e5-large", "query: "),
        ("BAAI/bge-small-en-v1.5", "Represent this sentence for searching relevant passages: "),
        ("BAAI/bge-m3", ""),
        ("sentence-transformers/all-MiniLM-L6-v2", ""),
    ],
)
def test_prefixes_by_name(name, query):
    assert prompt_prefixes(name)[0] == query


@pytest.mark.parametrize(
    ("mode", "says"),
    [
        ("busy", "answered 429"),
        ("short", "vectors for"),
        ("other", "no embeddings"),
        ("html", "no embeddings"),
        ("nan", "not finite"),
    ],
)
def test_a_fault_of_the_server_is_one_clear_line(server, mode, says):
    server.mode = mode
    with pytest.raises(ModelError, match=says) as fault:
        EndpointEmbedder("m", server.url).embed(["a"])
    assert "\n" not in str(fault.value)


def test_a_server_that_is_not_there():
    with pytest.raises(ModelError, match="cannot be reached"):
        EndpointEmbedder("m", "http://127.0.0.1:9/v1").embed(["a"])


# --------------------------------------------------------------------------------- local folders


def test_token_vectors_are_averaged_without_padding(onnx_folder: Path):
    table = np.load(onnx_folder / "table.npy")
    rows = embedder(str(onnx_folder)).embed(["red cup", "washes the red cup a door"])
    mean = table[[4, 5]].mean(axis=0)
    assert rows[0] == pytest.approx(mean / np.linalg.norm(mean), abs=1e-5)


def test_two_models_in_folders_of_one_name_have_two_names(onnx_folder: Path):
    first = embedder(str(onnx_folder)).name
    with (onnx_folder / "model.onnx").open("ab") as file:
        file.write(field(6, "a note"))
    assert embedder(str(onnx_folder)).name != first


def test_a_folders_own_prefixes_are_used(onnx_folder: Path):
    config = {"prompts": {"query": "washes ", "document": ""}}
    (onnx_folder / "config_sentence_transformers.json").write_text(json.dumps(config))
    model = embedder(str(onnx_folder))
    assert model.embed(["cup"], query=True)[0] == pytest.approx(model.embed(["washes cup"])[0])


def test_a_folder_without_a_model(tmp_path: Path):
    pytest.importorskip("onnxruntime")
    with pytest.raises(WeightsError, match=r"no model\.onnx"):
        embedder(str(tmp_path))


def test_a_spec_that_means_nothing():
    with pytest.raises(ConfigError, match="no such folder") as fault:
        embedder("no-such-thing")
    assert "fastembed:NAME" in fault.value.remedy
