# SPDX-License-Identifier: GPL-2.0
"""A handle of the library: opening, calling, closing, and what its errors become."""
from __future__ import annotations

import errno
import ipaddress
import math
import os
from ctypes import byref
from typing import Any, Callable, Optional, Union

from . import _library as lib
from ._values import Shape, integer

AddressLike = Union[str, int, ipaddress.IPv4Address]


class Error(OSError):
    """A call of libaggnet failed.

    errno: as libaggnet(3) and aggnet(7) describe it. strerror: the sentence. node: address
    of the node that the failure is about, origin: of the node that raised it; None if it is
    not known or the failure is one of this call.
    """
    node: Optional[str] = None
    origin: Optional[str] = None


class Restart(Error):
    """A newer epoch has begun (ESTALE): discard what was read, or add everything again."""


def address(value: AddressLike) -> lib.Address:
    """An IPv4 address as libaggnet takes it.

    >>> bytes(address("10.0.0.1").bytes)
    b'\\n\\x00\\x00\\x01'
    """
    return lib.Address.from_buffer_copy(ipaddress.IPv4Address(value).packed)


def name(value: lib.Address) -> Optional[str]:
    """The address as text; None: there is none."""
    return str(ipaddress.IPv4Address(bytes(value.bytes))) if any(value.bytes) else None


def milliseconds(what: str, seconds: Optional[float]) -> int:
    """A time limit in milliseconds, rounded up; 0: the default.

    >>> milliseconds("timeout", 0.0001)
    1
    >>> milliseconds("timeout", 0)
    Traceback (most recent call last):
    ValueError: timeout must be more than 0 seconds, not 0
    """
    if seconds is None:
        return 0
    if not seconds > 0:
        raise ValueError(f"{what} must be more than 0 seconds, not {seconds}")
    return integer(math.ceil(seconds * 1000), 32, signed=False)


def options(timeout: Optional[float], repair: Optional[float] = None, flags: int = 0,
            spool_dir: Union[str, os.PathLike, None] = None,
            spool_max: Optional[int] = None) -> lib.Options:
    """struct aggnet_options"""
    return lib.Options(flags, milliseconds("timeout", timeout),
                       milliseconds("repair", repair),
                       os.fsencode(spool_dir) if spool_dir is not None else None,
                       integer(spool_max or 0, 64, signed=False))


class Handle:
    """A handle belongs to one thread at a time, and closes when it is collected.

    A signal handler, or another thread, may close it while a call of the library runs.
    Then it is freed when this call returns, not before. Between the test of a flag and the
    next store CPython runs no signal handler and switches to no other thread, because there
    is no call and no jump backward; so the flags need no lock, which an exception raised by
    a signal handler could leave locked.
    """
    _kind: str

    def __init__(self, opts: Any, function: str, *args: Any, then: tuple = ()):
        self._handle = lib.HANDLE()
        self._busy = False
        self._closed = False
        self._over = False  # nothing is left to commit
        # The library copies the pointer to the name of the spool's directory, not the name.
        self._options = opts
        try:
            got = self._once(self._function(function), (*args, byref(opts), *then),
                             byref(self._handle))
            if got:
                raise got
            self._opened()
        except BaseException:
            self.close()
            raise

    @classmethod
    def _function(cls, verb: str) -> Callable:
        return getattr(lib.library, f"aggnet_{cls._kind}_{verb}")

    def _opened(self) -> None:
        self._shape = Shape(self._status())

    def _text(self) -> str:
        return self._function("error")(self._handle).decode(errors="replace")

    def _error(self, got: int) -> Error:
        status = lib.Status()
        error = (Restart if got == -errno.ESTALE else Error)(-got, self._text())
        if self._handle and not self._function("status")(self._handle, byref(status)) and \
                status.reason:
            error.origin = name(status.origin)
            error.node = name(status.about) or error.origin
        return error

    def _once(self, function: Callable, args: tuple, first: Any = None,
              then: Optional[Callable] = None) -> Any:
        """Call the library. Return: what it returns, or then() of it, or an Error"""
        if self._busy:
            raise RuntimeError("the handle is in use: another call has not returned")
        if self._closed:
            raise ValueError(f"the {self._kind} is closed")
        try:
            self._busy = True
            got = function(first or self._handle, *args)
            if isinstance(got, int) and got < 0:
                return self._error(got)
            return then(got) if then and got else got
        finally:
            self._busy = False
            if self._closed:
                self._free()

    def _call(self, function: Callable, *args: Any, then: Optional[Callable] = None) -> Any:
        """Call the library; after a signal, once Python's handler has run, again.

        What it returns, if it is not 0, passes through then() while nothing can free what
        it points to.
        """
        while True:
            got = self._once(function, args, then=then)
            if not isinstance(got, Error):
                return got
            if got.errno != errno.EINTR:
                raise got

    def _give_up(self, error: Error, taken: bool) -> None:
        """A call that gives many records has failed with an error, after it gave some.

        It would give them twice if it were made again, so close. After Restart the caller
        begins with the first record, and the library has dropped those it was given.
        """
        if taken and not isinstance(error, Restart):
            self.close()

    def _status(self) -> lib.Status:
        status = lib.Status()
        self._call(self._function("status"), byref(status))
        return status

    def _free(self) -> None:
        if not self._handle:
            return
        # A signal handler runs in this look-up at the latest: it may raise an exception,
        # which must not lose the handle, or free it, and closing None does nothing.
        close = self._function("close")
        handle, self._handle = self._handle, None
        close(handle)

    @property
    def closed(self) -> bool:
        """Is it closed?"""
        return self._closed

    def close(self) -> None:
        """Free the handle. If the transfer is not over for it, that aborts the transfer."""
        self._closed = True
        if not self._busy:
            self._free()

    def __del__(self) -> None:
        if hasattr(self, "_options"):
            self.close()

    def __reduce__(self) -> Any:
        """What copy and pickle call: two copies would free one handle twice."""
        raise TypeError(f"a {self._kind} cannot be copied")

    def __enter__(self) -> Any:
        if self._closed:
            raise ValueError(f"the {self._kind} is closed")
        return self

    def __exit__(self, kind: Any, *_: Any) -> None:
        try:
            if kind is None and not self._over:
                self._leave()
        finally:
            self.close()

    def _leave(self) -> None:
        """What leaving a "with" block without an exception does."""
        raise NotImplementedError
