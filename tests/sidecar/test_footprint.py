"""A process that stays holds on to little memory."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

# Threads that all have something at the same time, then as many arenas as malloc_info tells.
CODE = """
import ctypes, sys, threading
if sys.argv[1] == "share":
    from khiip_sidecar.footprint import share_arenas
    share_arenas()
libc = ctypes.CDLL(None)
libc.malloc.restype = libc.open_memstream.restype = ctypes.c_void_p
together = threading.Barrier(6)
def take():
    libc.malloc(1000)
    together.wait(10)
threads = [threading.Thread(target=take) for _ in range(6)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
text, size = ctypes.c_char_p(), ctypes.c_size_t()
stream = ctypes.c_void_p(libc.open_memstream(ctypes.byref(text), ctypes.byref(size)))
libc.malloc_info(0, stream)
libc.fclose(stream)
print(text.value.count(b"<heap nr="))
"""


def arenas(how: str) -> int:
    done = subprocess.run(
        [sys.executable, "-c", CODE, how], check=True, capture_output=True, text=True
    )
    return int(done.stdout)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc has arenas")
def test_threads_share_two_arenas() -> None:
    assert arenas("leave") > 2
    assert arenas("share") <= 2
