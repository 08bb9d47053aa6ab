"""Embedders: text to unit vectors, by a local ONNX folder, fastembed or an HTTP endpoint.

    onnx:FOLDER, or a folder's path        model.onnx and tokenizer.json
    fastembed:NAME                         a hub name, such as BAAI/bge-small-en-v1.5
    openai:NAME                            api.openai.com (OPENAI_API_KEY)
    NAME@http://host:8000/v1               any server with /v1/embeddings (EGOMEM_EMBEDDER_KEY)

Every embedder gives the same vector for the same text, up to rounding, whatever it is batched with.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from egomem.errors import ConfigError, MissingExtraError, ModelError, WeightsError
from egomem.hashing import SHORT_LENGTH, hash_file

if TYPE_CHECKING:
    from urllib.error import HTTPError

Vectors = NDArray[np.float32]

_BATCH_SIZE = 64


@runtime_checkable
class Embedder(Protocol):
    """An embedding model. `name` identifies it and its settings: other names, other vectors."""

    @property
    def name(self) -> str: ...

    @property
    def dimensions(self) -> int: ...

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Vectors:
        """`(len(texts), dimensions)` float32, rows of length 1 (all 0 for an empty text).

        `query` is for models that want questions and documents marked differently.
        """
        ...


PREFIXES: dict[str, tuple[str, str]] = {
    "e5": ("query: ", "passage: "),
    "bge": ("Represent this sentence for searching relevant passages: ", ""),
    "nomic-embed": ("search_query: ", "search_document: "),
    "mxbai": ("Represent this sentence for searching relevant passages: ", ""),
}
"""By a part of the model's name: what its model card puts before a query and a document."""


def prompt_prefixes(name: str) -> tuple[str, str]:
    """The prefixes that a model needs before queries and before documents; mostly none."""
    parts = name.lower().replace("/", "-").replace("_", "-")
    if "bge-m3" in parts:
        return ("", "")
    matches = (pair for key, pair in PREFIXES.items() if f"-{key}-" in f"-{parts}-")
    return next(matches, ("", ""))


def embedder(spec: str) -> Embedder:
    """The embedder that a spec names (see the top of this module).

    Raises ConfigError for a spec that cannot be read, MissingExtraError for a missing package and
    WeightsError for missing files.
    """
    if spec.startswith("fastembed:"):
        return FastEmbedEmbedder(spec.removeprefix("fastembed:"))
    if spec.startswith("openai:"):
        return EndpointEmbedder(
            spec.removeprefix("openai:"),
            "https://api.openai.com/v1",
            key=os.environ.get("OPENAI_API_KEY"),
        )
    name, at, url = spec.rpartition("@")
    if at and url.startswith(("http://", "https://")):
        return EndpointEmbedder(name, url, key=os.environ.get("EGOMEM_EMBEDDER_KEY"))
    folder = Path(spec.removeprefix("onnx:")).expanduser()
    if folder.is_dir():
        return OnnxEmbedder(folder)
    raise ConfigError(
        f"no embedder is called {spec!r}, and no such folder exists",
        "use fastembed:NAME, openai:NAME, NAME@URL or a folder with model.onnx and tokenizer.json",
    )


class OnnxEmbedder:
    """A sentence encoder from a folder: `model.onnx` and `tokenizer.json`, run on one thread.

    Token-level outputs are averaged over the text's tokens. Texts are cut at `max_tokens`.
    """

    def __init__(self, folder: Path, *, max_tokens: int = 256) -> None:
        try:
            import onnxruntime
            from tokenizers import Tokenizer
        except ImportError as e:
            raise MissingExtraError(e.name or "onnxruntime", "embed") from e
        for name in ("model.onnx", "tokenizer.json"):
            if not (folder / name).is_file():
                raise WeightsError(f"{folder} has no {name}", "put the exported model there")
        options = onnxruntime.SessionOptions()
        # One thread: another order of summation would change the vectors' last digits.
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        self._session = onnxruntime.InferenceSession(
            str(folder / "model.onnx"), options, providers=["CPUExecutionProvider"]
        )
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.enable_truncation(max_tokens)
        self._tokenizer.enable_padding()
        self._inputs = {i.name for i in self._session.get_inputs()}
        self._query, self._document = _configured_prefixes(folder)
        self.name = f"onnx:{folder.resolve().name}:{_digest(folder)}"
        self.dimensions = int(self._run(["a"]).shape[1])

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Vectors:
        prefix = self._query if query else self._document
        vectors = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        # Sorted by length, so that a batch needs little padding.
        filled = sorted((i for i, t in enumerate(texts) if t.strip()), key=lambda i: len(texts[i]))
        for start in range(0, len(filled), _BATCH_SIZE):
            rows = filled[start : start + _BATCH_SIZE]
            vectors[rows] = self._run([prefix + texts[i] for i in rows])
        return vectors

    def _run(self, texts: list[str]) -> Vectors:
        encodings = self._tokenizer.encode_batch(texts)
        mask = np.array([e.attention_mask for e in encodings], dtype=np.int64)
        feeds = {
            "input_ids": np.array([e.ids for e in encodings], dtype=np.int64),
            "attention_mask": mask,
            "token_type_ids": np.zeros_like(mask),
        }
        output = self._session.run(None, {k: v for k, v in feeds.items() if k in self._inputs})[0]
        if output.ndim == 3:
            weights = mask[:, :, None].astype(output.dtype)
            output = (output * weights).sum(axis=1) / weights.sum(axis=1)
        return normalise_rows(output)


class FastEmbedEmbedder:
    """A model that fastembed supports, by its hub name; fastembed fetches it on first use."""

    def __init__(self, model: str) -> None:
        try:
            fastembed = import_module("fastembed")
        except ImportError as e:
            raise MissingExtraError("fastembed", "embed") from e
        try:
            self._model = fastembed.TextEmbedding(model, threads=1)
        except ValueError as e:
            raise ConfigError(f"fastembed does not know the model {model!r}", str(e)) from e
        self._query, self._document = prompt_prefixes(model)
        self.name = f"fastembed:{model}"
        self.dimensions = int(self.embed(["a"]).shape[1])

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Vectors:
        prefix = self._query if query else self._document
        if not texts:
            return np.zeros((0, self.dimensions), dtype=np.float32)
        rows = np.array(list(self._model.embed([prefix + t for t in texts])))
        rows[[i for i, t in enumerate(texts) if not t.strip()]] = 0
        return normalise_rows(rows)


class EndpointEmbedder:
    """A server that answers `POST {url}/embeddings` as OpenAI's does."""

    def __init__(
        self, model: str, url: str, *, key: str | None = None, timeout: float = 60.0
    ) -> None:
        self._model, self._url, self._key = model, url.rstrip("/"), key
        self._timeout = timeout
        self._query, self._document = prompt_prefixes(model)
        self._dimensions: int | None = None
        self.name = f"{model}@{self._url}"

    @property
    def dimensions(self) -> int:
        # Only a reply tells, so the first question costs a request.
        if self._dimensions is None:
            self._dimensions = int(self._request(["a"]).shape[1])
        return self._dimensions

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Vectors:
        prefix = self._query if query else self._document
        vectors = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        filled = [i for i, t in enumerate(texts) if t.strip()]  # servers refuse empty input
        for start in range(0, len(filled), _BATCH_SIZE):
            rows = filled[start : start + _BATCH_SIZE]
            vectors[rows] = self._request([prefix + texts[i] for i in rows])
        return vectors

    def _request(self, texts: list[str]) -> Vectors:
        import json
        from urllib.error import HTTPError, URLError
        from urllib.request import Request, urlopen

        headers = {"Content-Type": "application/json"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        body = json.dumps({"model": self._model, "input": texts, "encoding_format": "float"})
        request = Request(f"{self._url}/embeddings", body.encode(), headers)
        try:
            with urlopen(request, timeout=self._timeout) as reply:
                rows = json.load(reply)["data"]
            ordered = sorted(rows, key=lambda row: row["index"])  # servers may answer out of order
            vectors = np.array([row["embedding"] for row in ordered], dtype=np.float32)
        except HTTPError as e:
            with e:
                raise ModelError(
                    f"{self._url} answered {e.code} for embeddings", _error_text(e)
                ) from e
        except (URLError, TimeoutError, ConnectionError) as e:
            raise ModelError(
                f"{self._url} cannot be reached ({e})", "start the server, or check its URL"
            ) from e
        except (KeyError, TypeError, ValueError) as e:
            raise ModelError(f"{self._url} sent no embeddings ({e})", "check the URL") from e
        if vectors.ndim != 2 or len(vectors) != len(texts):
            raise ModelError(f"{self._url} sent {len(vectors)} vectors for {len(texts)} texts")
        return normalise_rows(vectors)


def normalise_rows(rows: NDArray[np.floating]) -> Vectors:
    """Rows of length 1; a row of zeros stays one. Raises ModelError where one is not finite."""
    if not np.isfinite(rows).all():
        raise ModelError("an embedding has values that are not finite", "use another model")
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    return (rows / np.where(norms > 0, norms, 1)).astype(np.float32)


def _configured_prefixes(folder: Path) -> tuple[str, str]:
    """The prefixes of the sentence-transformers configuration in a folder, else by its name."""
    config = folder / "config_sentence_transformers.json"
    if not config.is_file():
        return prompt_prefixes(folder.resolve().name)
    import json

    prompts = json.loads(config.read_text(encoding="utf-8")).get("prompts") or {}
    document = prompts.get("document") or prompts.get("passage") or ""
    return (prompts.get("query") or "", document)


def _digest(folder: Path) -> str:
    # Two models in folders of the same name must not share vectors.
    return hash_file(folder / "model.onnx")[:SHORT_LENGTH]


def _error_text(error: HTTPError) -> str:
    return " ".join(error.read(300).decode(errors="replace").split())
