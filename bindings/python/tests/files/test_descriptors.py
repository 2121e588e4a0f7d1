"""Outputs that are open files of the caller, pipes as sources, and references as keys."""

import io
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import pytest
import sealane

KEY = bytes(range(32))
DATA = bytes(range(256)) * 1000


def test_open_files_are_written_at_their_position(tmp_path: Path) -> None:
    plain, sealed = tmp_path / "plain", tmp_path / "sealed"
    plain.write_bytes(DATA)
    sealane.encrypt_file(plain, sealed, key=KEY)
    with tempfile.TemporaryFile() as unlinked, (tmp_path / "named").open("w+b") as named:
        files = [unlinked, named, os.fdopen(os.memfd_create("x"), "w+b")]
        for file in files:
            file.write(b"first ")
            file.flush()
            name = f"/proc/self/fd/{file.fileno()}"
            sealane.decrypt_file(sealed, name, key=KEY)
            with sealane.open(f"/dev/fd/{file.fileno()}", "wb", key=KEY) as writer:
                writer.write(DATA)
            os.write(file.fileno(), b" last")
            file.seek(0)
            found = file.read()
            assert found.startswith(b"first " + DATA)
            assert found.endswith(b" last")
            assert sealane.decrypt(found[len(b"first " + DATA) : -5], key=KEY) == DATA
            with pytest.raises(ValueError, match="same file"):
                sealane.encrypt_file(name, name, key=KEY)
        files[2].close()


def test_standard_output_is_written(tmp_path: Path) -> None:
    (tmp_path / "m").write_bytes(b"message")
    code = "import sealane; sealane.encrypt_file('m', '/dev/stdout', key=bytes(32))"
    line = f'echo first; {sys.executable} -c "{code}"; echo last'
    with (tmp_path / "log").open("wb") as log:
        subprocess.run(["sh", "-c", line], cwd=tmp_path, stdout=log, check=True)
    found = (tmp_path / "log").read_bytes()
    assert found.startswith(b"first\n")
    assert found.endswith(b"last\n")
    assert sealane.decrypt(found[6:-5], key=bytes(32)) == b"message"


def test_a_pipe_is_read_from_start_to_end(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    sealed = sealane.encrypt(DATA, key=KEY)

    def fed(data: bytes) -> None:
        threading.Thread(target=lambda: pipe.write_bytes(data)).start()

    fed(sealed)
    with sealane.open(str(pipe), key=KEY) as file:
        assert (file.readable(), file.seekable(), file.peek()[:5]) == (True, False, DATA[:5])
        assert file.read(5) + file.read1(3) == DATA[:8]
        buffer = bytearray(70_000)
        assert file.readinto(buffer) == 70_000
        assert buffer == DATA[8:70_008]
        assert file.tell() == 70_008
        for refused in lambda: file.seek(0), lambda: file.size:
            with pytest.raises(io.UnsupportedOperation):
                refused()
        assert file.read() == DATA[70_008:]
        assert file.read() == file.read(1) == b""
    fed(sealane.encrypt(b"one\ntwo\n", key=KEY))
    with sealane.open(pipe, key=KEY) as file, io.TextIOWrapper(file) as text:
        assert list(text) == ["one\n", "two\n"]
    fed(sealed[:-1])
    with sealane.open(pipe, key=KEY) as file, pytest.raises(sealane.AuthenticationError):
        file.read()


def test_references_are_keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("m").write_bytes(b"message")
    sealane.keys.generate("aes-256").save("key.jwk")
    sealane.encrypt_file("m", "sealed", key="file:key.jwk")
    sealane.decrypt_file("sealed", "back", key="file:key.jwk")
    assert Path("back").read_bytes() == b"message"
    with sealane.open("sealed", key="file:key.jwk") as file:
        assert file.read() == b"message"
    with pytest.raises(ValueError, match="reads"):
        sealane.encrypt_file("m", "key.jwk", key="file:key.jwk")
    me = sealane.keys.generate("age")
    me.save("me.key")
    assert me.public is not None
    sealed = sealane.encrypt(b"message", recipients=[me.public])
    assert sealane.decrypt(sealed, identities=["file:me.key"]) == b"message"
    with pytest.raises(sealane.FormatError, match=r"pathlib\.Path"):
        sealane.decrypt(sealed, identities=["me.key"])
    assert sealane.decrypt(sealed, identities=[pathlib.Path("me.key")]) == b"message"
    with pytest.raises(TypeError):
        sealane.encrypt(b"", key="a password")
    with sealane.open("sealed", "rt", key="file:key.jwk") as file:
        assert file.read() == "message"


@pytest.mark.parametrize("threads", [1, 4])
@pytest.mark.parametrize("moment", ["between", "end"])
def test_a_callback_that_forks(tmp_path: Path, threads: int, moment: str) -> None:
    """The parent's file is complete; a child that returns from the callback ends."""
    plain, sealed = tmp_path / "plain", tmp_path / "sealed"
    plain.write_bytes(bytes(16 << 20))
    # If the other threads do all chunks before this one has its first, the only report is the last.
    code = """if True:
        import os, sys, sealane
        plain, sealed, threads, moment = sys.argv[1:]
        children = []
        def fork(done, total):
            if not children and (done < total) == (moment == "between"):
                children.append(os.fork())
        while not children:
            try:
                sealane.encrypt_file(
                    plain, sealed, key=bytes(32), threads=int(threads), progress=fork
                )
            except sealane.ForkedError:
                os._exit(7)
        print(os.waitpid(children[0], 0)[1])
    """
    command = [sys.executable, "-c", code, str(plain), str(sealed), str(threads), moment]
    run = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300)
    status = int(run.stdout)
    waits_for_threads = threads > 1 and moment == "between"
    ended = os.WTERMSIG(status) if waits_for_threads else os.waitstatus_to_exitcode(status)
    assert ended == (signal.SIGABRT if waits_for_threads else 7), run.stderr
    sealane.verify_file(sealed, key=bytes(32))


def test_a_name_in_another_spelling_is_suggested() -> None:
    with pytest.raises(ValueError, match=r'unknown algorithm "AES-256-GCM".*did you mean "aes-256-gcm"'):
        sealane.Aead("AES-256-GCM", KEY)
    with pytest.raises(ValueError, match=r'unknown kind of key "AES256".*did you mean "aes-256"'):
        sealane.keys.generate("AES256")
