# SPDX-License-Identifier: GPL-2.0
"""Broadcasts: a stream of bytes from a root to all members."""
from __future__ import annotations

import ctypes
import errno
from typing import Any, Iterator, Optional

from ._handle import AddressLike, Error, Handle, address, options
from ._values import integer

CHUNK = 65536  # no message is longer


class Broadcast(Handle):
    """The root of a broadcast, Broadcast.root(), or a member, Broadcast.member().

    The root writes; leaving its "with" block normally calls finish(), which waits until each
    member has committed. A member reads, or iterates over, the bytes; leaving its block
    normally calls commit(), so store them inside. Leaving a block with an exception aborts
    the broadcast for all, and so does a member that leaves before the last round of a
    persistent broadcast. Nothing is repaired, so an error is final::

        with aggnet.Broadcast.root(8) as root:
            root.write(data)

        with aggnet.Broadcast.member(8, "10.0.0.1") as member:
            data = member.read()
    """
    _kind = "cast"

    def __init__(self, job: int, root: Optional[AddressLike] = None, *,
                 timeout: Optional[float] = None):
        """root: address of the root; None: this node is the root. timeout: seconds."""
        self._root = root is None
        self._buffer = ctypes.create_string_buffer(CHUNK)
        self._rest = b""
        self._committed = False
        number = integer(job, 32, signed=False)
        if root is None:
            super().__init__(options(timeout), "root", number)
        else:
            super().__init__(options(timeout), "join", address(root), number)

    @classmethod
    def root(cls, job: int, *, timeout: Optional[float] = None) -> "Broadcast":
        """Become the root of a broadcast."""
        return cls(job, timeout=timeout)

    @classmethod
    def member(cls, job: int, root: AddressLike, *,
               timeout: Optional[float] = None) -> "Broadcast":
        """Become a member, of the broadcast of this root."""
        return cls(job, root, timeout=timeout)

    def write(self, data: Any) -> None:
        """Send all bytes of a buffer, as the root.

        An error after a part was taken closes the handle.
        """
        raw = data if isinstance(data, bytes) else bytes(memoryview(data))
        start = ctypes.cast(ctypes.c_char_p(raw), ctypes.c_void_p).value or 0
        done = 0
        while done < len(raw):
            try:
                done += self._call(self._function("write"), start + done, len(raw) - done)
            except Error as err:
                self._give_up(err, done > 0)
                raise

    def finish(self) -> None:
        """End the stream, as the root, and wait until each member has committed."""
        self._call(self._function("finish"))
        self._over = True

    def _chunk(self) -> bytes:
        """The next bytes, as many as there are; b"": the end."""
        if self._rest:
            chunk, self._rest = self._rest, b""
            return chunk
        return self._call(self._function("read"), self._buffer, CHUNK,
                          then=lambda got: ctypes.string_at(self._buffer, got)) or b""

    def read(self, size: int = -1) -> bytes:
        """Read at most size bytes, as a member; b"": the end. Without a size: all.

        Only the end shows that the bytes are those of the root.
        """
        if size < 0:
            return b"".join(self)
        if not size:
            return b""
        chunk = self._chunk()
        self._rest = chunk[size:]
        return chunk[:size]

    def __iter__(self) -> Iterator[bytes]:
        """The bytes to the end, in pieces."""
        return iter(self._chunk, b"")

    def commit(self) -> None:
        """Tell the root that this member has stored the stream, or the round."""
        self._call(self._function("commit"))
        self._committed = True
        self._over = not self._shape.persist

    def round(self) -> bool:
        """Go on to the next round of a persistent broadcast.

        The root ends the round, and waits until each member has committed it; finish() ends
        the last one. A member calls commit() before. Return: True: the next round begins;
        False, at a member: the round before was the last one.
        """
        try:
            self._call(self._function("round"))
        except Error as err:
            if not self._committed or err.errno != errno.EPIPE:
                raise
            self._over = True
            return False
        self._committed = False
        return True

    def _leave(self) -> None:
        if self._root:
            self.finish()
            return
        self.commit()
        if not self._over and self.round():
            raise ValueError("another round follows: call round()")
