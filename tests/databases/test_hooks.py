"""The hooks for LangGraph, Temporal and LitData."""

from __future__ import annotations

import asyncio
import gc
import importlib.util
import pickle
from pathlib import Path
from typing import Any

import pytest
import sealane
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde.base import CipherProtocol
from langgraph.checkpoint.serde.encrypted import EncryptedSerializer
from sealane import langgraph, litdata, temporal
from sealane.keys import Keyring
from temporalio.api.common.v1 import Payload
from temporalio.converter import DataConverter

SECRET = "secret 51d0 state"


def test_checkpoints_of_langgraph() -> None:
    ring = Keyring.generate("xaes-256-gcm")
    cipher: CipherProtocol = langgraph.Cipher(ring)
    saver = InMemorySaver(serde=EncryptedSerializer(cipher))
    checkpoint: Any = {
        "v": 4,
        "id": "1",
        "ts": "2026-11-27T00:00:00+00:00",
        "channel_values": {"messages": [SECRET]},
        "channel_versions": {"messages": "1"},
        "versions_seen": {},
        "updated_channels": None,
    }
    config: Any = {"configurable": {"thread_id": "t", "checkpoint_ns": ""}}
    saved = saver.put(config, checkpoint, {"source": "input", "step": 1}, {"messages": "1"})
    assert SECRET.encode() not in repr((dict(saver.storage), saver.blobs)).encode()
    ring.rotate()
    found = saver.get_tuple(saved)
    assert found is not None
    assert found.checkpoint["channel_values"] == {"messages": [SECRET]}
    name, sealed = cipher.encrypt(b"state")
    with pytest.raises(ValueError, match="found 'aes'"):
        cipher.decrypt("aes", sealed)
    with pytest.raises(sealane.AuthenticationError):
        cipher.decrypt(name, sealed[:-1] + bytes([sealed[-1] ^ 1]))


def test_payloads_of_temporal() -> None:
    async def work() -> None:
        ring = Keyring.generate("xaes-256-gcm")
        converter = DataConverter(payload_codec=temporal.Codec(ring))
        payloads = await converter.encode([SECRET, {"a": 1}, None])
        assert not any(SECRET.encode() in payload.SerializeToString() for payload in payloads)
        ring.rotate()
        assert await converter.decode(payloads) == [SECRET, {"a": 1}, None]
        assert await converter.decode(await converter.encode([])) == []
        changed = Payload(metadata=dict(payloads[0].metadata), data=payloads[0].data[:-1] + b"?")
        with pytest.raises(sealane.AuthenticationError):
            await converter.decode([changed])
        plain = await DataConverter().encode([SECRET])
        with pytest.raises(sealane.FormatError, match="expected an encrypted payload"):
            await converter.decode(plain)
        lenient = DataConverter(payload_codec=temporal.Codec(ring, accept_plaintext=True))
        assert await lenient.decode([*plain, *payloads]) == [SECRET, SECRET, {"a": 1}, None]

    asyncio.run(work())


def test_samples_of_litdata(tmp_path: Path) -> None:
    ring = Keyring.generate("xaes-256-gcm")
    ring.save(tmp_path / "ring.json")
    encryption = litdata.Encryption(f"file:{tmp_path}/ring.json", level="chunk")
    assert encryption.state_dict() == {"algorithm": "sealane", "level": "chunk"}
    pickled = pickle.dumps(encryption)
    assert ring.to_json().encode() not in pickled
    sealed = pickle.loads(pickled).encrypt(SECRET.encode())
    assert SECRET.encode() not in sealed
    assert encryption.decrypt(sealed) == SECRET.encode()
    with pytest.raises(sealane.AuthenticationError):
        encryption.decrypt(sealed[:-1])
    wrong: Any = "file"
    with pytest.raises(ValueError, match="'sample' or 'chunk'"):
        litdata.Encryption(f"file:{tmp_path}/ring.json", level=wrong)


# LitData leaves its chunks open.
@pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_dataset_of_litdata(tmp_path: Path) -> None:
    """With the package itself, which needs PyTorch: `make -C tests engines` installs it."""
    if importlib.util.find_spec("litdata") is None:
        pytest.skip("NOT RUN: needs litdata")
    from litdata import StreamingDataset, optimize

    Keyring.generate("xaes-256-gcm").save(tmp_path / "ring.json")
    encryption = litdata.Encryption(f"file:{tmp_path}/ring.json")
    optimize(
        fn=str, inputs=[SECRET] * 10, output_dir=str(tmp_path / "data"), chunk_size=5, encryption=encryption
    )
    chunks = list((tmp_path / "data").glob("*.bin"))
    assert chunks
    assert not any(SECRET.encode() in chunk.read_bytes() for chunk in chunks)
    dataset = StreamingDataset(str(tmp_path / "data"), encryption=encryption)
    assert [dataset[number] for number in range(10)] == [SECRET] * 10
    del dataset
    gc.collect()
