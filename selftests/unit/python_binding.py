#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Tests of the Python package, with the library of python_fake.c; prints TAP."""
import contextlib
import copy
import ctypes
import doctest
import errno
import gc
import io
import math
import numbers
import operator
import os
import pickle
import runpy
import signal
import threading
import unittest
import unittest.mock
from array import array
from decimal import Decimal
from fractions import Fraction

import aggnet
import aggnet._broadcast
import aggnet._elements
import aggnet._group
import aggnet._handle
import aggnet._library as lib
import aggnet._values
import aggnet.mapreduce

fake = ctypes.CDLL("libaggnet.so.0")
fake.fake_sent.restype = ctypes.c_void_p
fake.fake_shut.restype = fake.fake_taken.restype = ctypes.c_bool
EXAMPLES = os.path.join(os.path.dirname(aggnet.__file__), "..", "examples")
RECEIVER = "10.0.0.1"
SENDER, RECEIVES, USER = 4, 5, 10  # AGGNET_R_*


class Member(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("offset", ctypes.c_size_t),
                ("size", ctypes.c_size_t)]


def sent():
    """Bytes that the source has sent."""
    length = ctypes.c_size_t()
    at = fake.fake_sent(ctypes.byref(length))
    return ctypes.string_at(at, length.value)


def shape(function="sum", vtype="int64", layout="keyed", scale=0, k=0, elements=0):
    fake.fake_reset()
    fake.fake_shape(lib.FUNCTIONS.index(function), lib.VTYPES.index(vtype),
                    lib.LAYOUTS.index(layout), scale, k, ctypes.c_uint64(elements))


def end(sources=1, records=1, number=0, last=0):
    fake.fake_end(sources, ctypes.c_uint64(records), number, last)


def transfer(*records, keys=bytes, **kind):
    """Write records, and read what comes out."""
    shape(**kind)
    with aggnet.Source(7, RECEIVER, keys=keys) as source:
        for record in records:
            source.write(*record)
    fake.fake_deliver()
    end()
    with aggnet.Sink(7, keys=keys) as sink:
        return list(sink)


class Library(unittest.TestCase):
    def test_structures_are_those_of_the_header(self):
        members = (Member * 100).in_dll(fake, "fake_members")
        seen = 0
        for member in members:
            if not member.name:
                break
            kind, _, field = member.name.decode().partition(".")
            declared = getattr(lib, kind.title().replace("_", ""))
            if field:
                place = getattr(declared, field)
                self.assertEqual((place.offset, place.size), (member.offset, member.size),
                                 member.name)
                seen += 1
            else:
                self.assertEqual(ctypes.sizeof(declared), member.size, member.name)
        self.assertEqual(seen, sum(len(c._fields_) for c in (
            lib.Options, lib.Status, lib.Best, lib.Entry, lib.Result, lib.GroupConf)))

    def test_numbers_are_those_of_the_header(self):
        last = list((ctypes.c_uint * 10).in_dll(fake, "fake_last"))
        self.assertEqual(last, [
            lib.FUNCTIONS.index("nearest"), lib.VTYPES.index("float64"),
            lib.LAYOUTS.index("bytes"), lib.R_USER, lib.OPT_REPLAY, lib.OPT_NO_REPLAY,
            aggnet._broadcast.CHUNK, aggnet._values.KEY_MAX,
            lib.COLL_FDS, aggnet._group.ALLREDUCE])
        self.assertEqual(aggnet._group.KINDS[aggnet._group.ALLREDUCE], "allreduce")
        self.assertEqual(len(lib.LAYOUTS), 4)

    def test_examples_of_the_documentation(self):
        for module in (aggnet._values, aggnet._elements, aggnet._group, aggnet._handle,
                       aggnet.mapreduce):
            result = doctest.testmod(module)
            self.assertEqual(result.failed, 0)
            self.assertGreater(result.attempted, 0)


class Values(unittest.TestCase):
    def test_sum(self):
        self.assertEqual(transfer((b"a", 1), (b"b", -2**63), (b"a", 41)),
                         [(b"a", 42), (b"b", -2**63)])

    def test_integers_of_any_kind(self):
        class Index:
            def __index__(self):
                return 5
        self.assertEqual(transfer(("a", True), ("a", Index())), [(b"a", 6)])

    def test_count(self):
        for vtype in "int64", "float64":
            self.assertEqual(transfer((b"a",), (b"a",), function="count", vtype=vtype),
                             [(b"a", 2)])

    def test_average(self):
        (key, mean), = transfer((b"a", 1), (b"a", 2), function="average")
        self.assertEqual((key, mean, mean.count), (b"a", 1.5, 2))
        self.assertIsInstance(mean, float)

    def test_average_of_large_integers_is_rounded_once(self):
        (_, mean), = transfer((b"a", 2**53 + 1), (b"a", 2**53 + 2), function="average")
        self.assertEqual(mean, float(Fraction(2**54 + 3, 2)))

    def test_average_is_copied_and_pickled(self):
        mean = aggnet.Average(2.5, 4)
        for other in (copy.copy(mean), copy.deepcopy(mean),
                      *(pickle.loads(pickle.dumps(mean, protocol))
                        for protocol in range(pickle.HIGHEST_PROTOCOL + 1))):
            self.assertIsInstance(other, aggnet.Average)
            self.assertEqual((other, other.count), (2.5, 4))

    def test_sum_of_reals_is_exact(self):
        self.assertEqual(transfer((b"a", 1e100), (b"a", 1), (b"a", -1e100),
                                  vtype="float64"), [(b"a", 1.0)])

    def test_sum_of_singles_is_the_nearest_single(self):
        half = 2.0**-24
        (_, total), = transfer((b"a", 1.0), (b"a", half), (b"a", half * 2**-20),
                               vtype="float32")
        self.assertEqual(total, 1 + 2.0**-23)

    def test_special_reals(self):
        self.assertEqual(transfer((b"a", math.inf), vtype="float32"), [(b"a", math.inf)])
        (_, value), = transfer((b"a", math.nan), function="max", vtype="float64")
        self.assertTrue(math.isnan(value))

    def test_fixed(self):
        self.assertEqual(transfer((b"a", 0.5), (b"a", Fraction(1, 4)), (b"a", 2),
                                  vtype="fixed", scale=8), [(b"a", 2.75)])

    def test_numbers_of_other_types(self):
        class Real:
            def __float__(self):
                return 0.5
        self.assertEqual(transfer((b"a", Real()), (b"a", Decimal("0.25")), vtype="fixed",
                                  scale=8), [(b"a", 0.75)])
        self.assertEqual(transfer((b"a", Real()), (b"a", Fraction(1, 4)), vtype="float32"),
                         [(b"a", 0.75)])

    def test_scalars_of_fixed_size_are_taken_exactly(self):
        class Int64(int):
            """An integer as those of numpy: it wraps around, and is compared as a float."""
            def __mul__(self, other):
                number = int(self) * int(other) & 2**64 - 1
                return Int64(number - (number >> 63 << 64))
            __rmul__ = __mul__

            def __eq__(self, other):
                return float(self) == float(other)

            __hash__ = int.__hash__
            numerator = property(lambda self: self)
            denominator = property(lambda self: Int64(1))

        class Scalar:
            """As an integer, but none of Python's."""
            def __init__(self, number):
                self.numerator, self.denominator = Int64(number), Int64(1)

            def __int__(self):
                return int(self.numerator)

            def __float__(self):
                return float(self.numerator)

            def __eq__(self, other):
                return float(self) == float(other)
        numbers.Integral.register(Scalar)
        for kind in Int64, Scalar:
            self.assertEqual(aggnet._values.fixed(kind(2**40), 20), 2**60)
            with self.assertRaisesRegex(OverflowError, "does not fit fixed"):
                aggnet._values.fixed(kind(2**50), 20)
            self.assertEqual(aggnet._values.real(kind(2**53), False), 2.0**53)
            with self.assertRaisesRegex(OverflowError, "is not a float64"):
                aggnet._values.real(kind(2**53 + 1), False)

    def test_topk_and_nearest(self):
        records = [(b"a", (5, 2**64 - 1)), (b"a", (-7, 2)), (b"a", (9, 3))]
        self.assertEqual(transfer(*records, function="topk", k=2),
                         [(b"a", [(9, 3), (5, 2**64 - 1)])])
        (_, best), = transfer(*records, function="nearest", k=1)
        self.assertEqual((best[0].value, best[0].id), (-7, 2))
        self.assertEqual(transfer((b"a", (0.5, 1)), function="topk", vtype="float64", k=1),
                         [(b"a", [(0.5, 1)])])

    def refused(self, error, text, *record, keys=bytes, **kind):
        shape(**kind)
        source = aggnet.Source(7, RECEIVER, keys=keys)
        with self.assertRaisesRegex(error, text):
            source.write(*record)
        self.assertEqual(source.records, 0)
        source.close()
        self.assertEqual(sent(), b"")

    def test_what_does_not_fit_is_not_sent(self):
        self.refused(OverflowError, "9223372036854775808", b"a", 2**63)
        self.refused(OverflowError, "-2147483649", b"a", -2**31 - 1, vtype="int32")
        self.refused(OverflowError, "2147483648", b"a", (2**31, 1), function="topk",
                     vtype="int32", k=1)
        self.refused(OverflowError, "-1", b"a", (1, -1), function="topk", k=1)
        self.refused(OverflowError, "1e[+]39", b"a", 1e39, vtype="float32")
        self.refused(OverflowError, "9007199254740993", b"a", 2**53 + 1, vtype="float64")
        self.refused(OverflowError, "nan", b"a", math.nan, vtype="fixed", scale=8)
        self.refused(OverflowError, "inf", b"a", math.inf, vtype="fixed", scale=8)
        self.refused(OverflowError, "does not fit fixed", b"a", 2**60, vtype="fixed", scale=8)
        self.refused(OverflowError, "65536 does not fit uint16", 65536, 1, keys=2)
        self.refused(OverflowError, "-1 does not fit", -1, 1, keys=2)

    def test_what_has_another_type_is_not_sent(self):
        self.refused(TypeError, "1.5 is not an integer", b"a", 1.5)
        self.refused(TypeError, "real number", b"a", "1.5", vtype="float64")
        self.refused(TypeError, "real number", b"a", "1.5", vtype="fixed", scale=8)
        self.refused(TypeError, "None is not an integer", b"a")
        self.refused(TypeError, "pair", b"a", 1, function="topk", k=1)
        self.refused(TypeError, "set keys=", 5, 1)
        self.refused(TypeError, "is not an integer", "a", 1, keys=4)
        self.refused(aggnet.Error, "1 to 255", b"", 1)
        self.refused(aggnet.Error, "vector", b"a", 1, layout="dense", elements=3)

    def test_keys_of_integers_have_one_order_of_bytes(self):
        shape()
        with aggnet.Source(7, RECEIVER, keys=4) as source:
            source.write(258, 1)
        self.assertEqual(sent(), b"\4\1\0\0\1\2\1")
        self.assertEqual(transfer((258, 1), (2**32 - 1, 2), keys=4), [(258, 1), (2**32 - 1, 2)])

    def test_keys_as_text(self):
        self.assertEqual(transfer(("caf\u00e9", 1)), [("caf\u00e9".encode(), 1)])
        self.assertEqual(transfer(("caf\u00e9", 1), keys=str), [("caf\u00e9", 1)])

    def test_a_key_of_another_length(self):
        shape()
        with aggnet.Source(7, RECEIVER) as source:
            source.write(b"abc", 1)
        fake.fake_deliver()
        end()
        with self.assertRaisesRegex(ValueError, "3 bytes, not 4"):
            with aggnet.Sink(7, keys=4) as sink:
                list(sink)
        self.assertFalse(fake.fake_taken())

    def test_write_many(self):
        for arguments in (([("a", 1), ("b", 2)],), ({"a": 1, "b": 2},),
                          (["a", "b"], array("i", [1, 2])), (["a", "b"], iter((1, 2)))):
            shape()
            with aggnet.Source(7, RECEIVER) as source:
                source.write_many(*arguments)
                self.assertEqual(source.records, 2)

    def test_write_many_takes_no_keys_for_pairs(self):
        for function in "sum", "count":
            for wrong in (["ab", "cd"], [b"ab"], [bytearray(b"ab")], "ab", b"ab"):
                shape(function)
                source = aggnet.Source(7, RECEIVER)
                with self.assertRaises(TypeError):
                    source.write_many(wrong)
                self.assertEqual(source.records, 0)
                source.close()

    def test_write_many_of_count(self):
        for arguments in ((("ab", None) for _ in range(3)),), (["ab"] * 3, [None] * 3):
            shape("count")
            with aggnet.Source(7, RECEIVER) as source:
                source.write_many(*arguments)
            fake.fake_deliver()
            end()
            with aggnet.Sink(7) as sink:
                self.assertEqual(list(sink), [(b"ab", 3)])

    def test_write_many_checks_before_it_sends(self):
        shape()
        source = aggnet.Source(7, RECEIVER, keys=8)
        with self.assertRaisesRegex(OverflowError, "9223372036854775808"):
            source.write_many(array("q", [1, 2]), [1, 2**63])
        with self.assertRaisesRegex(ValueError, "2 keys and 1 values"):
            source.write_many([1, 2], [1])
        self.assertEqual(source.records, 0)
        source.write_many(array("Q", [1, 2**64 - 1]), array("q", [3, 4]))
        self.assertEqual(source.records, 2)

    def test_options(self):
        shape()
        for error, options in ((ValueError, {"timeout": 0}), (ValueError, {"repair": -1}),
                               (OverflowError, {"timeout": 1e9}),
                               (ValueError, {"replay": "all"}), (ValueError, {"keys": 0}),
                               (ValueError, {"keys": 256})):
            with self.assertRaises(error):
                aggnet.Source(7, RECEIVER, **options)
        with self.assertRaises(OverflowError):
            aggnet.Source(2**32, RECEIVER)
        with self.assertRaises(ValueError):
            aggnet.Source(7, "10.0.0")


class Vectors(unittest.TestCase):
    def vector(self, values, buffer=None, elements=None, **kind):
        shape(layout="dense", elements=elements or len(values), **kind)
        with aggnet.Source(7, RECEIVER) as source:
            source.write_vector(values)
        fake.fake_deliver()
        end()
        with aggnet.Sink(7) as sink:
            return sink.read_vector(buffer)

    def test_integers(self):
        values = [n * 3 - 20 for n in range(40)]
        self.assertEqual(self.vector(values), array("q", values))
        buffer = array("i", bytes(4 * 40))
        self.assertIs(self.vector(array("h", values), buffer, vtype="int32"), buffer)
        self.assertEqual(list(buffer), values)

    def test_reals(self):
        self.assertEqual(self.vector([0.5, 0.1], vtype="float64"), array("d", [0.5, 0.1]))
        single = array("f", [0.5, 0.1])
        self.assertEqual(self.vector(single, array("f", [9, 9]), vtype="float32"), single)
        self.assertEqual(self.vector(single, vtype="float32"), array("d", single))

    def test_several_dimensions(self):
        matrix = memoryview(array("q", range(6))).cast("B").cast("q", (2, 3))
        buffer = memoryview(array("q", bytes(48))).cast("B").cast("q", (3, 2))
        self.vector(matrix, buffer, elements=6)
        self.assertEqual(buffer.tolist(), [[0, 1], [2, 3], [4, 5]])

    def test_buffers_that_do_not_hold_it(self):
        for error, buffer, kind in (
                (TypeError, array("i", [0, 0]), {}), (TypeError, array("f", [0, 0]),
                                                      {"vtype": "float64"}),
                (TypeError, array("d", [0, 0]), {}), (TypeError, b"01234567", {}),
                (TypeError, array("Q", [0, 0]), {}), (ValueError, array("q", [0]), {}),
                (ValueError, array("q", [0, 0, 0]), {})):
            with self.assertRaises(error):
                self.vector([1, 2], buffer, **kind)
            self.assertFalse(fake.fake_taken())
            self.assertEqual(fake.fake_aborted(), RECEIVES)

    def test_wrong_lengths(self):
        with self.assertRaisesRegex(ValueError, "3 elements were given"):
            self.vector([1, 2, 3], elements=2)
        self.assertEqual(sent(), b"")
        self.assertEqual(fake.fake_aborted(), SENDER)
        with self.assertRaisesRegex(aggnet.Error, "only 1 of the vector's 2") as caught:
            self.vector([1], elements=2)
        self.assertEqual(caught.exception.errno, errno.EINVAL)
        self.assertEqual(fake.fake_aborted(), SENDER)

    def test_the_vector_of_a_job_with_stripes(self):
        for parts in (26,), (20, 6):
            shape(layout="dense", elements=13)
            fake.fake_stripes()
            with aggnet.Source(7, RECEIVER) as source:
                for part in parts:
                    source.write_vector(range(part))
            self.assertTrue(fake.fake_shut())
        shape(layout="dense", elements=13)
        fake.fake_stripes()
        with self.assertRaisesRegex(aggnet.Error, "no more than 26 elements"):
            with aggnet.Source(7, RECEIVER) as source:
                source.write_vector(range(27))
        self.assertFalse(fake.fake_shut())

    def test_one_element_that_does_not_fit(self):
        with self.assertRaisesRegex(OverflowError, "2147483648"):
            self.vector([1] * 100 + [2**31], vtype="int32")
        self.assertEqual(sent(), b"")

    def test_an_interrupted_vector_is_whole(self):
        signal.signal(signal.SIGUSR1, lambda *_: None)
        values = list(range(-20000, 20000))
        shape(layout="dense", elements=len(values))
        with aggnet.Source(7, RECEIVER) as source:
            source.write_vector(values)
        whole = sent()
        shape(layout="dense", elements=len(values))
        fake.fake_room(ctypes.c_size_t(0))
        fake.fake_interrupt(signal.SIGUSR1, 2)
        with aggnet.Source(7, RECEIVER) as source:
            source.write_vector(values[:30000])
            source.write_vector(values[30000:])
        self.assertEqual(sent(), whole)

    def test_a_vector_stops_when_the_handle_is_closed(self):
        shape(layout="dense", elements=3)
        source = aggnet.Source(7, RECEIVER)
        calls = []

        def close(*_):
            calls.append(1)
            source.close()
            return 0
        source._add_element = close
        with self.assertRaisesRegex(ValueError, "closed"):
            source.write_vector([1, 2, 3])
        self.assertEqual(len(calls), 1)

    def test_it_can_be_read_again_and_in_lines(self):
        shape(layout="dense", elements=3)
        with aggnet.Source(7, RECEIVER) as source:
            source.write_vector([4, 5])
            source.write_vector([6])
        fake.fake_deliver()
        end()
        with aggnet.Sink(7) as sink:
            self.assertEqual(list(sink), [(0, 4), (1, 5), (2, 6)])
            self.assertEqual(list(sink.read_vector()), [4, 5, 6])
            self.assertEqual(list(sink.read_vector()), [4, 5, 6])

    def test_a_round_without_a_vector_gives_no_zeros(self):
        shape(layout="dense", elements=3)
        fake.fake_kind(True, False)
        end(records=0, number=1, last=1)
        buffer = array("q", [7, 8, 9])
        with aggnet.Sink(7) as sink:
            with self.assertRaises(EOFError):
                sink.read_vector(buffer)
            with self.assertRaises(EOFError):
                sink.read_vector()
        self.assertEqual(list(buffer), [7, 8, 9])
        self.assertTrue(fake.fake_taken())

    def test_keys_are_not_a_vector(self):
        shape()
        end(records=0)
        with aggnet.Sink(7) as sink:
            with self.assertRaisesRegex(ValueError, "keys and values"):
                sink.read_vector()


class Blocks(unittest.TestCase):
    """What "with" commits, and what it aborts."""

    def test_a_source_commits(self):
        shape()
        with aggnet.Source(7, RECEIVER) as source:
            source.write(b"a", 1)
        self.assertTrue(fake.fake_shut())
        self.assertEqual(fake.fake_aborted(), 0)
        self.assertTrue(source.closed)

    def test_an_exception_aborts_a_source(self):
        for error in KeyError, KeyboardInterrupt, GeneratorExit:
            shape()
            with self.assertRaises(error):
                with aggnet.Source(7, RECEIVER) as source:
                    source.write(b"a", 1)
                    raise error
            self.assertFalse(fake.fake_shut())
            self.assertEqual(fake.fake_aborted(), SENDER)

    def test_an_iterable_that_fails_aborts_a_source(self):
        def broken():
            yield b"a", 1
            raise KeyError
        shape()
        with self.assertRaises(KeyError):
            with aggnet.Source(7, RECEIVER) as source:
                source.write_many(broken())
        self.assertFalse(fake.fake_shut())
        self.assertEqual(fake.fake_aborted(), SENDER)

    def test_abort(self):
        for opened in lambda: aggnet.Source(7, RECEIVER), lambda: aggnet.Sink(7):
            shape()
            with opened() as handle:
                # Closing gives a reason, too; the kernel keeps the first one.
                with unittest.mock.patch.object(handle, "_free"):
                    handle.abort()
                self.assertEqual(fake.fake_aborted(), USER)
                self.assertTrue(handle.closed)
            self.assertFalse(fake.fake_taken() or fake.fake_shut())

    def test_a_sink_commits(self):
        shape()
        end(sources=3, records=0)
        with aggnet.Sink(7) as sink:
            result = sink.result()
        self.assertTrue(fake.fake_taken())
        self.assertEqual(fake.fake_aborted(), 0)
        self.assertEqual((result.sources, result.of, result.keys, result.plan[:2],
                          result.absent, result.last), (3, 3, 0, "5a", (), False))

    def test_an_exception_aborts_a_sink(self):
        shape()
        end(records=0)
        with self.assertRaises(KeyError):
            with aggnet.Sink(7) as sink:
                sink.run()
                raise KeyError
        self.assertFalse(fake.fake_taken())
        self.assertEqual(fake.fake_aborted(), RECEIVES)

    def test_a_sink_that_has_read_nothing_does_not_commit(self):
        shape()
        end(records=0)
        with self.assertRaisesRegex(aggnet.Error, "no result yet"):
            with aggnet.Sink(7):
                pass
        self.assertFalse(fake.fake_taken())
        self.assertEqual(fake.fake_aborted(), RECEIVES)

    def test_an_exception_before_the_handle_is_freed_does_not_lose_it(self):
        shape()
        source = aggnet.Source(7, RECEIVER)
        with unittest.mock.patch.object(source, "_function", side_effect=KeyboardInterrupt):
            with self.assertRaises(KeyboardInterrupt):
                source.close()
        self.assertEqual(fake.fake_aborted(), 0)
        source.close()
        self.assertEqual(fake.fake_aborted(), SENDER)

    def test_use_after_close(self):
        shape()
        source = aggnet.Source(7, RECEIVER)
        source.close()
        source.close()
        sink = aggnet.Sink(7)
        sink.close()
        for call in (lambda: source.write(b"a", 1), source.finish, source.round,
                     lambda: source.records, source.__enter__, lambda: next(sink), sink.run,
                     sink.result, sink.commit, lambda: next(sink.stream()), sink.__enter__):
            with self.assertRaisesRegex(ValueError, "is closed"):
                call()

    def test_a_block_whose_handle_was_closed_has_not_committed(self):
        shape()
        with self.assertRaisesRegex(ValueError, "source is closed"):
            with aggnet.Source(7, RECEIVER) as source:
                source.close()
        self.assertEqual(fake.fake_aborted(), SENDER)
        shape()
        with aggnet.Source(7, RECEIVER) as source:
            source.finish()
            source.close()
        self.assertEqual(fake.fake_aborted(), 0)

    def test_a_handle_that_is_collected_is_closed(self):
        shape()
        source = aggnet.Source(7, RECEIVER)
        self.assertEqual(fake.fake_aborted(), 0)
        del source
        gc.collect()
        self.assertEqual(fake.fake_aborted(), SENDER)

    def test_no_descriptor_is_left(self):
        before = os.listdir("/proc/self/fd")
        shape()
        for _ in range(3):
            with aggnet.Source(7, RECEIVER):
                pass
            fake.fake_clear()
        self.assertEqual(before, os.listdir("/proc/self/fd"))


class Errors(unittest.TestCase):
    def test_errno_node_and_sentence(self):
        shape()
        fake.fake_lost(errno.ETIMEDOUT)
        with self.assertRaises(OSError) as caught:
            with aggnet.Sink(7) as sink:
                list(sink)
        error = caught.exception
        self.assertIsInstance(error, aggnet.Error)
        self.assertEqual((error.errno, error.node, error.origin),
                         (errno.ETIMEDOUT, "10.0.0.3", "10.0.0.3"))
        self.assertEqual(error.strerror, "timed out at 10.0.0.3: 2 sources missing")

    def test_a_refused_call_is_about_no_node(self):
        shape()
        with aggnet.Source(7, RECEIVER) as source:
            with self.assertRaisesRegex(aggnet.Error, "--persist") as caught:
                source.round()
        self.assertEqual((caught.exception.errno, caught.exception.node),
                         (errno.EOPNOTSUPP, None))

    def test_a_stream_that_ends_in_an_error_does_not_end(self):
        shape(layout="sorted")
        with aggnet.Source(7, RECEIVER) as source:
            source.write(b"a", 1)
            source.write(b"b", 2)
        fake.fake_deliver()
        fake.fake_lost(errno.ECONNRESET)
        lines = []
        with self.assertRaises(aggnet.Error) as caught:
            with aggnet.Sink(7) as sink:
                for line in sink.stream():
                    lines.append(line)
        self.assertEqual(caught.exception.errno, errno.ECONNRESET)
        self.assertEqual(lines, [(b"a", 1)])

    def test_a_stream(self):
        shape(layout="sorted")
        with aggnet.Source(7, RECEIVER) as source:
            source.write_many({"a": 1, "b": 2})
        fake.fake_deliver()
        end()
        with aggnet.Sink(7) as sink:
            stream = sink.stream()
            self.assertEqual(next(stream), (b"a", 1))
            with self.assertRaisesRegex(ValueError, "has not come to its end"):
                sink.run()
            self.assertEqual(list(stream), [(b"b", 2)])
            self.assertEqual(sink.result().keys, 2)

    def test_a_result_that_is_read_is_not_streamed(self):
        for read in (lambda sink: sink.run(), lambda sink: sink.result(), list,
                     lambda sink: sink.sort(), lambda sink: sink.top(1)):
            shape(layout="sorted")
            with aggnet.Source(7, RECEIVER) as source:
                source.write(b"a", 1)
            fake.fake_deliver()
            end()
            with self.assertRaisesRegex(ValueError, "the result has been read"):
                with aggnet.Sink(7) as sink:
                    read(sink)
                    list(sink.stream())
            self.assertFalse(fake.fake_taken())

    def test_lines_that_were_streamed_are_not_kept(self):
        for read in (list, lambda sink: sink.sort(), lambda sink: sink.top(1),
                     lambda sink: list(sink.stream())):
            shape(layout="sorted")
            with aggnet.Source(7, RECEIVER) as source:
                source.write(b"a", 1)
            fake.fake_deliver()
            end()
            with aggnet.Sink(7) as sink:
                self.assertEqual(list(sink.stream()), [(b"a", 1)])
                with self.assertRaisesRegex(ValueError, "stream()"):
                    read(sink)
            self.assertTrue(fake.fake_taken())

    def test_a_restart_is_read_in_the_other_way(self):
        ways = (lambda sink: list(sink.stream())), list
        for first, second in ways, reversed(ways):
            shape(layout="sorted")
            end(records=0)
            with aggnet.Sink(7) as sink:
                self.assertEqual(first(sink), [])
                fake.fake_clear()
                fake.fake_lost(errno.ESTALE)
                with self.assertRaises(aggnet.Restart):
                    sink.commit()
                fake.fake_clear()
                end(records=0)
                self.assertEqual(second(sink), [])
            self.assertTrue(fake.fake_taken())

    def test_keys_out_of_order(self):
        shape(layout="sorted")
        source = aggnet.Source(7, RECEIVER)
        source.write(b"b", 1)
        with self.assertRaises(aggnet.Error) as caught:
            source.write(b"a", 1)
        self.assertEqual(caught.exception.errno, errno.EILSEQ)

    def test_restart(self):
        shape()
        end(records=0)
        with aggnet.Sink(7) as sink:
            self.assertEqual(list(sink), [])
            fake.fake_clear()
            fake.fake_lost(errno.ESTALE)
            with self.assertRaises(aggnet.Restart) as caught:
                sink.commit()
            self.assertEqual(caught.exception.errno, errno.ESTALE)
            fake.fake_clear()
            end(records=5)
            self.assertEqual(sink.result().records, 5)
        self.assertTrue(fake.fake_taken())

    def test_reduce_stores_again_after_a_restart(self):
        shape()
        end(records=0)
        calls = []

        def store(lines):
            calls.append(list(lines))
            if len(calls) == 1:
                fake.fake_clear()
                fake.fake_lost(errno.ESTALE)
                end(records=0)
            return len(calls)
        self.assertEqual(aggnet.mapreduce.reduce(7, store), 2)
        self.assertEqual(calls, [[], []])

    def test_the_caller_gives_the_records_again(self):
        shape()
        with aggnet.Source(7, RECEIVER, replay="caller") as source:
            source.write(b"a", 1)
            fake.fake_lose_source(errno.ESTALE, ctypes.c_size_t(0))
            with self.assertRaises(aggnet.Restart):
                source.finish()
            fake.fake_lose_source(0, ctypes.c_size_t(0))
            self.assertEqual((source.records, source.replays), (0, 1))
            source.write(b"a", 2)
        self.assertEqual(sent(), b"\1\1a\2")

    def closed_by(self, handle, call, *arguments):
        """Is the handle closed after the error of this call?"""
        with self.assertRaises(aggnet.Error):
            call(*arguments)
        if handle.closed:
            with self.assertRaisesRegex(ValueError, "is closed"):
                call(*arguments)
        return handle.closed

    def test_a_call_that_fails_in_the_middle_is_not_repeated(self):
        for records in [("b", 1), ("a", 1)], {"b": 1, "a": 1}, ("ba", [1, 1]):
            shape(layout="sorted")
            source = aggnet.Source(7, RECEIVER)
            arguments = records if isinstance(records, tuple) else (records,)
            self.assertTrue(self.closed_by(source, source.write_many, *arguments))
            self.assertEqual(fake.fake_aborted(), SENDER)
        shape(layout="dense", elements=5)
        source = aggnet.Source(7, RECEIVER)
        source.write_vector([1, 2, 3])
        self.assertTrue(self.closed_by(source, source.write_vector, [4, 5, 6]))
        shape(layout="bytes")
        fake.fake_kind(False, True)
        root = aggnet.Broadcast.root(7)
        fake.fake_lose_source(errno.ECONNRESET, ctypes.c_size_t(3))
        fake.fake_room(ctypes.c_size_t(3))
        self.assertTrue(self.closed_by(root, root.write, b"abcdef"))

    def test_a_call_that_has_taken_nothing_can_be_repeated(self):
        shape(layout="sorted")
        with aggnet.Source(7, RECEIVER) as source:
            source.write_many({"b": 1})
            self.assertFalse(self.closed_by(source, source.write_many, {"a": 1}))
            source.write_many({"b": 1})
        shape(layout="dense", elements=2)
        with aggnet.Source(7, RECEIVER) as source:
            source.write_vector([1, 2])
            self.assertFalse(self.closed_by(source, source.write_vector, [3]))

    def test_a_restart_in_the_middle_does_not_close(self):
        records = {b"%05d" % number: 1 for number in range(20000)}
        shape()
        fake.fake_lose_source(errno.ESTALE, ctypes.c_size_t(1))
        with aggnet.Source(7, RECEIVER, replay="caller") as source:
            with self.assertRaises(aggnet.Restart):
                source.write_many(records)
            source.write_many(records)
        self.assertEqual(sent(), b"".join(b"\5\1%05d\1" % number for number in range(20000)))

    def test_the_spool_gives_the_records_again(self):
        shape()
        fake.fake_lose_source(errno.ESTALE, ctypes.c_size_t(1))
        with aggnet.Source(7, RECEIVER) as source:
            for number in range(20000):
                source.write(b"%05d" % number, 1)
            source.finish()
            self.assertEqual(source.replays, 1)
        self.assertEqual(sent(), b"".join(b"\5\1%05d\1" % number for number in range(20000)))


class Rounds(unittest.TestCase):
    def test_rounds(self):
        shape()
        fake.fake_kind(True, False)
        with aggnet.Source(7, RECEIVER) as source:
            source.write(b"a", 1)
            source.round()
            source.write(b"a", 2)
        end(number=0)
        with aggnet.Sink(7) as sink:
            self.assertEqual(list(sink), [])
            with self.assertRaisesRegex(aggnet.Error, "not committed"):
                sink.round()
            sink.run()
            sink.commit()
            self.assertTrue(sink.round())
            fake.fake_clear()
            end(number=1, last=1)
            self.assertEqual(sink.result().round, 1)
            sink.commit()
            self.assertFalse(sink.round())

    def test_a_block_does_not_lose_the_rounds_that_follow(self):
        for commit in False, True:
            shape()
            fake.fake_kind(True, False)
            end(number=0)
            with self.assertRaisesRegex(ValueError, "another round follows"):
                with aggnet.Sink(7) as sink:
                    list(sink)
                    if commit:
                        sink.commit()
            self.assertTrue(sink.closed)

    def test_a_block_commits_the_last_round(self):
        shape()
        fake.fake_kind(True, False)
        end(number=0, last=1)
        with aggnet.Sink(7) as sink:
            list(sink)
        self.assertTrue(fake.fake_taken())

    def test_each_round_is_streamed_or_read(self):
        shape(layout="sorted")
        fake.fake_kind(True, False)
        end()
        with aggnet.Sink(7) as sink:
            for number, read in enumerate((lambda sink: list(sink.stream()), list,
                                           lambda sink: list(sink.stream()))):
                self.assertEqual(read(sink), [])
                sink.commit()
                if number < 2:
                    self.assertTrue(sink.round())
                    fake.fake_clear()
                    end(number=number + 1, last=number)


class Signals(unittest.TestCase):
    def setUp(self):
        self.handler = signal.signal(signal.SIGINT, signal.default_int_handler)

    def tearDown(self):
        signal.signal(signal.SIGINT, self.handler)

    def test_a_call_continues_after_a_handler(self):
        seen = []
        signal.signal(signal.SIGINT, lambda *_: seen.append(1))
        shape()
        fake.fake_interrupt(signal.SIGINT, 3)
        with aggnet.Source(7, RECEIVER) as source:
            source.write(b"a", 1)
        self.assertEqual(len(seen), 3)
        self.assertTrue(fake.fake_shut())

    def test_keyboard_interrupt_aborts(self):
        shape()
        fake.fake_room(ctypes.c_size_t(0))
        fake.fake_interrupt(signal.SIGINT, 1)
        with self.assertRaises(KeyboardInterrupt):
            with aggnet.Source(7, RECEIVER) as source:
                source.write(b"a", 1)
                source.finish()
        self.assertFalse(fake.fake_shut())
        self.assertEqual(fake.fake_aborted(), SENDER)
        shape()
        end(records=0)
        fake.fake_hold()
        fake.fake_interrupt(signal.SIGINT, 1)
        with self.assertRaises(KeyboardInterrupt):
            with aggnet.Sink(7) as sink:
                list(sink)
        self.assertFalse(fake.fake_taken())
        self.assertEqual(fake.fake_aborted(), RECEIVES)

    def test_a_handler_closes_the_handle(self):
        shape()
        end(records=0)
        fake.fake_hold()
        sink = aggnet.Sink(7)
        aborted = []

        def handler(*_):
            sink.close()
            aborted.append(fake.fake_aborted())
        signal.signal(signal.SIGINT, handler)
        fake.fake_interrupt(signal.SIGINT, 1)
        with self.assertRaisesRegex(ValueError, "closed"):
            sink.run()
        # It was freed after the call had returned.
        self.assertEqual(aborted, [0])
        self.assertEqual(fake.fake_aborted(), RECEIVES)

    def test_a_handler_uses_the_handle(self):
        caught = []
        shape()
        source = aggnet.Source(7, RECEIVER)

        def handler(*_):
            try:
                source.write(b"b", 1)
            except RuntimeError as err:
                caught.append(str(err))
        signal.signal(signal.SIGINT, handler)
        fake.fake_interrupt(signal.SIGINT, 1)
        source.finish()
        self.assertEqual(caught, ["the handle is in use: another call has not returned"])

    def test_another_thread_closes_the_handle(self):
        shape()
        source = aggnet.Source(7, RECEIVER)
        fake.fake_gate()
        got = []

        def finish():
            try:
                source.finish()
                got.append(None)
            except Exception as err:
                got.append(err)
        thread = threading.Thread(target=finish)
        thread.start()
        fake.fake_entered()
        with self.assertRaises(RuntimeError):
            source.write(b"a", 1)
        source.close()
        self.assertIsNotNone(source._handle)
        fake.fake_open_gate()
        thread.join()
        self.assertEqual(got, [None])
        self.assertIsNone(source._handle)


class Broadcasts(unittest.TestCase):
    def setUp(self):
        shape(layout="bytes")
        fake.fake_kind(False, True)

    def message(self, data):
        fake.fake_bytes(data, len(data))

    def test_the_root(self):
        data = bytes(range(256)) * 1000
        fake.fake_room(ctypes.c_size_t(100))
        with aggnet.Broadcast.root(7) as root:
            root.write(data)
            root.write(array("B", b"xyz"))
            for wrong in 5, "text", None:
                with self.assertRaises(TypeError):
                    root.write(wrong)
        self.assertEqual(sent(), data + b"xyz")
        self.assertTrue(fake.fake_shut())

    def test_an_exception_aborts_the_root(self):
        with self.assertRaises(KeyError):
            with aggnet.Broadcast.root(7) as root:
                root.write(b"abc")
                raise KeyError
        self.assertFalse(fake.fake_shut())
        self.assertEqual(fake.fake_aborted(), SENDER)

    def test_an_interrupted_write_is_not_repeated(self):
        signal.signal(signal.SIGUSR1, lambda *_: None)
        fake.fake_room(ctypes.c_size_t(3))
        fake.fake_interrupt(signal.SIGUSR1, 2)
        with aggnet.Broadcast.root(7) as root:
            root.write(b"abcdef")
        self.assertEqual(sent(), b"abcdef")

    def test_a_member(self):
        for read, want in ((lambda m: m.read(), b"abcdefgh"), (list, [b"abcdef", b"gh"]),
                           (lambda m: [m.read(4) for _ in range(4)],
                            [b"abcd", b"ef", b"gh", b""]),
                           (lambda m: (m.read(0), m.read(1), m.read()),
                            (b"", b"a", b"bcdefgh"))):
            self.setUp()
            self.message(b"abcdef")
            self.message(b"gh")
            end(records=8)
            with aggnet.Broadcast.member(7, RECEIVER) as member:
                self.assertEqual(read(member), want)
            self.assertTrue(fake.fake_taken())

    def test_a_member_that_has_not_read_to_the_end_does_not_commit(self):
        self.message(b"abcdef")
        end(records=6)
        with self.assertRaisesRegex(aggnet.Error, "has not ended"):
            with aggnet.Broadcast.member(7, RECEIVER) as member:
                member.read(3)
        self.assertFalse(fake.fake_taken())

    def test_an_end_that_does_not_match_is_an_error(self):
        self.message(b"abcdef")
        end(records=7)
        with self.assertRaises(aggnet.Error) as caught:
            with aggnet.Broadcast.member(7, RECEIVER) as member:
                list(member)
        self.assertEqual(caught.exception.errno, errno.EBADMSG)
        self.assertFalse(fake.fake_taken())

    def test_rounds_of_the_root(self):
        fake.fake_kind(True, True)
        with aggnet.Broadcast.root(7) as root:
            for data in b"abc", b"def":
                root.write(data)
                self.assertTrue(root.round())
            self.assertFalse(fake.fake_shut())
            root.write(b"ghi")
            root.finish()
            with self.assertRaisesRegex(aggnet.Error, "no round follows"):
                root.round()
        self.assertEqual((sent(), fake.fake_rounds()), (b"abcdefghi", 2))
        self.assertEqual(fake.fake_aborted(), 0)

    def rounds(self, count=3):
        """Rounds that a member reads."""
        self.setUp()
        fake.fake_kind(True, True)
        for number in range(count):
            self.message(b"round %d" % number)
            end(records=7, number=number, last=number == count - 1)

    def test_rounds_of_a_member(self):
        self.rounds()
        got = []
        with aggnet.Broadcast.member(7, RECEIVER) as member:
            with self.assertRaisesRegex(aggnet.Error, "not committed"):
                member.round()
            while True:
                got.append(member.read())
                member.commit()
                self.assertEqual(member.read(), b"")
                if not member.round():
                    break
            self.assertFalse(member.round())
        self.assertEqual(got, [b"round 0", b"round 1", b"round 2"])
        self.assertEqual(fake.fake_aborted(), 0)

    def test_a_member_does_not_lose_the_rounds_that_follow(self):
        for commit in False, True:
            self.rounds()
            with self.assertRaisesRegex(ValueError, "another round follows"):
                with aggnet.Broadcast.member(7, RECEIVER) as member:
                    member.read()
                    if commit:
                        member.commit()
            self.assertEqual(fake.fake_aborted(), RECEIVES)

    def test_a_member_commits_the_last_round(self):
        for commit in False, True:
            self.rounds(1)
            with aggnet.Broadcast.member(7, RECEIVER) as member:
                member.read()
                if commit:
                    member.commit()
            self.assertTrue(fake.fake_taken())
            self.assertEqual(fake.fake_aborted(), 0)

    def test_an_error_is_not_the_last_round(self):
        fake.fake_kind(True, True)
        fake.fake_lost(errno.EPIPE)
        member = aggnet.Broadcast.member(7, RECEIVER)
        for call in member.read, member.round:
            with self.assertRaises(aggnet.Error) as caught:
                call()
            self.assertEqual(caught.exception.errno, errno.EPIPE)
        member.close()

    def test_a_broadcast_without_rounds(self):
        self.message(b"abc")
        end(records=3)
        with aggnet.Broadcast.member(7, RECEIVER) as member:
            member.read()
            member.commit()
            with self.assertRaisesRegex(aggnet.Error, "--persist") as caught:
                member.round()
        self.assertEqual(caught.exception.errno, errno.EOPNOTSUPP)

    def test_a_reduce_is_not_joined(self):
        shape()
        with self.assertRaises(aggnet.Error) as caught:
            aggnet.Broadcast.root(7)
        self.assertEqual(caught.exception.errno, errno.EPROTOTYPE)
        self.assertEqual(fake.fake_aborted(), 0)


class MapReduce(unittest.TestCase):
    def test_words(self):
        lines = ["to be or", "not to be"] * 3
        shape()
        written = aggnet.mapreduce.map(7, [RECEIVER], lines, aggnet.mapreduce.words)
        self.assertEqual(written, 4)
        fake.fake_deliver()
        end()
        counts = aggnet.mapreduce.reduce(7, dict, keys=str)
        self.assertEqual(counts, aggnet.mapreduce.local(lines, aggnet.mapreduce.words))
        self.assertTrue(fake.fake_taken())

    def test_top(self):
        shape()
        aggnet.mapreduce.map(7, [RECEIVER], ["a b b c c c"], aggnet.mapreduce.words)
        fake.fake_deliver()
        end()
        self.assertEqual(aggnet.mapreduce.reduce(7, list, top=2), [(b"c", 3), (b"b", 2)])

    def mapped(self, *pairs, vtype="int64", function="sum", k=0, **options):
        """What the receiver gets of these pairs of one mapper, and how many were sent."""
        shape(function, vtype, k=k)
        written = aggnet.mapreduce.map(7, [RECEIVER], [pairs], iter, **options)
        fake.fake_deliver()
        end()
        return aggnet.mapreduce.reduce(7, dict), written

    def test_what_is_combined_is_what_the_plan_computes(self):
        for function, vtype, want, written in (
                ("sum", "int64", 6, 1), ("sum", "int32", 6, 1), ("sum", "float64", 6.0, 3),
                ("sum", "fixed", 6.0, 3), ("min", "int64", 1, 1), ("max", "int32", 3, 1),
                ("max", "float32", 3.0, 3), ("count", "int64", 3, 3),
                ("average", "int64", 2.0, 3), ("product", "int64", 6, 3),
                ("bor", "int64", 3, 3), ("band", "int64", 0, 3)):
            got = self.mapped((b"a", 2), (b"a", 3), (b"a", 1), function=function, vtype=vtype)
            self.assertEqual(got, ({b"a": want}, written), f"{function} {vtype}")

    def test_combining_gives_what_the_network_would_give(self):
        total, _ = self.mapped((b"a", 1e100), (b"a", 1), (b"a", -1e100), vtype="float64")
        self.assertEqual(total, {b"a": 1.0})
        most, _ = self.mapped((b"a", 1), (b"a", math.nan), (b"a", 2), vtype="float64",
                              function="max")
        self.assertTrue(math.isnan(most[b"a"]))

        class Wraps(int):
            """An integer of 8 bits, as those of numpy."""
            def __add__(self, other):
                return Wraps(int(self) + int(other) & 0xff)
        self.assertEqual(self.mapped((b"a", Wraps(200)), (b"a", Wraps(100))),
                         ({b"a": 300}, 1))
        self.assertEqual(self.mapped((b"a", 2**31 - 1), (b"a", 1), (b"a", -5), vtype="int32"),
                         ({b"a": 2**31 - 5}, 2))
        for function in "sum", "max":
            with self.assertRaises(TypeError):
                self.mapped((b"a", 1), (b"a", 0.5), function=function)
            self.assertEqual(fake.fake_aborted(), SENDER)

    def test_the_pairs_of_topk_are_not_combined(self):
        got = self.mapped((b"a", (5, 1)), (b"a", (9, 2)), (b"a", (7, 3)), function="topk", k=2)
        self.assertEqual(got, ({b"a": [(9, 2), (7, 3)]}, 3))

    def test_what_cannot_be_combined_is_refused(self):
        for function in "count", "average", "topk", "nearest":
            with self.assertRaisesRegex(ValueError, f"{function}.*combine"):
                self.mapped(function=function, k=1, combine=operator.add)
            self.assertFalse(fake.fake_shut())
            self.mapped(function=function, k=1, combine=None)
            self.assertTrue(fake.fake_taken())
        got = self.mapped((b"a", 2), (b"a", 3), function="product", combine=operator.mul)
        self.assertEqual(got, ({b"a": 6}, 1))

    def test_a_mapper_that_fails_aborts(self):
        shape()
        with self.assertRaises(ZeroDivisionError):
            aggnet.mapreduce.map(7, [RECEIVER], [1, 0], lambda n: [("a", 1 // n)])
        self.assertFalse(fake.fake_shut())
        self.assertEqual(fake.fake_aborted(), SENDER)

    def test_examples_print_once_after_a_restart(self):
        for name, text, function, k, want in (
                ("wordcount", "to be or not to be", "sum", 0, "be\t2\nnot\t1\nor\t1\nto\t2\n"),
                ("longest", "1 /a 30\n2 /a 50\n", "topk", 2, "/a 50:2 30:1\n")):
            self.assertEqual(self.printed(name, text, function, k), want)

    def printed(self, name, text, function, k):
        """What an example prints if a newer epoch begins before its receiver commits."""
        program = runpy.run_path(os.path.join(EXAMPLES, name + ".py"))
        commits = []

        def commit(sink):
            commits.append(sink)
            if len(commits) == 1:
                fake.fake_rewind()
            aggnet.Sink.commit(sink)
        shape(function, k=k)
        with unittest.mock.patch("sys.argv", [name, "7", RECEIVER]), \
                unittest.mock.patch("sys.stdin", io.StringIO(text)):
            self.assertEqual(program["main"](), 0)
        fake.fake_deliver()
        end()
        out = io.StringIO()
        with unittest.mock.patch("sys.argv", [name, "7"]), \
                unittest.mock.patch.object(aggnet.mapreduce, "Sink", type(
                    "Sink", (aggnet.Sink,), {"commit": commit})), \
                contextlib.redirect_stdout(out):
            self.assertEqual(program["main"](), 0)
        self.assertEqual(len(commits), 2)
        return out.getvalue()

    def test_each_part_has_its_share(self):
        parts = [aggnet.mapreduce.partition(str(n).encode(), 5) for n in range(1000)]
        self.assertEqual(set(parts), set(range(5)))
        self.assertLess(max(map(parts.count, range(5))), 300)


class Groups(unittest.TestCase):
    def setUp(self):
        fake.fake_coll(0, 0)

    def group(self, dtype="int64", function="sum", rank=0, ranks=1, **rest):
        return aggnet.Group(RECEIVER, 7, 8, rank, ranks, dtype, function, **rest)

    def test_every_collective_of_one_rank(self):
        with self.group() as group:
            group.barrier()
            for call in (group.gather, group.allgather, group.reduce, group.allreduce,
                         group.reduce_scatter, group.scatter):
                self.assertEqual(call([1, -2**63]), array("q", [1, -2**63]))
                mine, out = array("q", [5, 6]), array("q", [0, 0])
                self.assertIs(call(mine, out=out), out)
                self.assertEqual(out, mine)
                self.assertIs(call(mine, out=mine), mine)
                self.assertEqual(mine, array("q", [5, 6]))
                self.assertEqual(len(call([])), 0)
            self.assertEqual(group.broadcast(mine), array("q", [5, 6]))
            self.assertEqual(len(group.scatter(mine, count=2)), 2)
            with self.assertRaisesRegex(ValueError, "has 2 elements, not 3"):
                group.scatter(mine, count=3)
            group.barrier()
        self.assertTrue(group.closed)

    def test_types(self):
        for dtype, letter, value in (("int32", "i", -2**31), ("float32", "f", 1.5),
                                     ("float64", "d", 0.1), ("int64", "q", 2**63 - 1)):
            with self.group(dtype) as group:
                for given in [value], array(letter, [value]), (value for _ in "1"):
                    result = group.allreduce(given)
                    self.assertEqual((result.typecode, list(result)), (letter, [value]))

    def test_a_buffer_of_another_type_is_converted(self):
        with self.group() as group:
            self.assertEqual(group.allreduce(array("i", [-3])), array("q", [-3]))
            self.assertEqual(group.allreduce(b"\x07"), array("q", [7]))
            with self.assertRaises(TypeError):
                group.allreduce(array("d", [1.0]))

    def test_a_buffer_that_is_read_only(self):
        with self.group() as group:
            mine = memoryview(array("q", [1, 2])).toreadonly()
            self.assertEqual(group.allreduce(mine), array("q", [1, 2]))
            with self.assertRaisesRegex(ValueError, "read-only"):
                group.allreduce([1, 2], out=mine)
            with self.assertRaisesRegex(ValueError, "read-only"):
                group.broadcast(mine)

    def test_numbers_that_do_not_fit_are_not_sent(self):
        with self.group("int32") as group:
            with self.assertRaises(OverflowError):
                group.allreduce([2**31])
            with self.assertRaises(TypeError):
                group.allreduce([1.0])
            self.assertEqual(group.allreduce([1]), array("i", [1]))
        with self.group("float32") as group, self.assertRaises(OverflowError):
            group.allreduce([1e39])

    def test_buffers_for_the_result(self):
        with self.group() as group:
            for out, error in ((array("q", [0, 0]), ValueError), (array("d", [0.0]), TypeError),
                               ([0], TypeError)):
                with self.assertRaises(error):
                    group.allreduce([1], out=out)
            self.assertEqual(group.allreduce([1]), array("q", [1]))

    def meanwhile(self, hook):
        """Call a hook, as a signal handler is, when a collective polls, which then ends."""
        class Poll:
            def register(self, fd, events):
                pass

            def poll(self, milliseconds):
                fake.fake_coll(0, 0)
                hook()
        fake.fake_coll(1, 0)
        return unittest.mock.patch.object(aggnet._group.select, "poll", Poll)

    def test_the_buffer_is_not_resized_meanwhile(self):
        mine = array("q", [1])

        def grow():
            with self.assertRaises(BufferError):
                mine.append(2)
        with self.group() as group, self.meanwhile(grow):
            group.allreduce(mine, out=mine)
        mine.append(2)

    def test_wrong_arguments(self):
        for arguments, error in ((dict(dtype="fixed"), ValueError),
                                 (dict(function="count"), ValueError),
                                 (dict(ranks=-1), OverflowError), (dict(timeout=0), ValueError)):
            with self.assertRaises(error):
                self.group(**arguments)
        with self.assertRaises(aggnet.Error) as caught:
            self.group(rank=2, ranks=2)
        self.assertEqual((caught.exception.errno, caught.exception.strerror),
                         (errno.EINVAL, "rank 2 is not one of 2 ranks"))

    def test_a_call_that_is_refused_leaves_the_group(self):
        with self.group() as group:
            with self.assertRaises(aggnet.Error) as caught:
                group.reduce([1], root=1)
            self.assertEqual(caught.exception.errno, errno.EINVAL)
            self.assertEqual(group.reduce([1]), array("q", [1]))

    def test_a_collective_that_waits(self):
        fake.fake_coll(3, 0)
        with self.group() as group:
            fake.fake_coll(3, 0)
            self.assertEqual(group.allreduce([4]), array("q", [4]))
            fake.fake_coll(3, 0)

    def test_a_collective_that_fails_ends_the_group(self):
        group = self.group()
        fake.fake_coll(2, -errno.ECONNABORTED)
        with self.assertRaises(aggnet.Error) as caught:
            group.barrier()
        self.assertEqual((caught.exception.errno, caught.exception.strerror),
                         (errno.ECONNABORTED, "a rank has left"))
        with self.assertRaises(aggnet.Error) as caught:
            group.barrier()
        self.assertEqual(caught.exception.errno, errno.ENOTCONN)
        group.close()
        with self.assertRaisesRegex(ValueError, "the group is closed"):
            group.barrier()

    def test_opening_that_fails(self):
        fake.fake_coll(2, -errno.EPROTO)
        with self.assertRaises(aggnet.Error) as caught:
            self.group()
        self.assertEqual(caught.exception.errno, errno.EPROTO)

    def test_an_exception_meanwhile_ends_the_group(self):
        def interrupt():
            raise KeyboardInterrupt
        for call in aggnet.Group.barrier, aggnet.Group.finish:
            group = self.group()
            with self.meanwhile(interrupt), self.assertRaises(KeyboardInterrupt):
                call(group)
            self.assertTrue(group.closed)
        with self.meanwhile(interrupt), self.assertRaises(KeyboardInterrupt):
            self.group()

    def test_a_second_call_meanwhile_is_refused(self):
        def call():
            with self.assertRaises(aggnet.Error) as caught:
                group.barrier()
            self.assertEqual(caught.exception.errno, errno.EBUSY)
        with self.group() as group, self.meanwhile(call):
            self.assertEqual(group.allreduce([3]), array("q", [3]))

    def test_closing_meanwhile(self):
        group = self.group()
        with self.meanwhile(group.close), self.assertRaisesRegex(ValueError, "is closed"):
            group.allreduce([3])
        self.assertTrue(group.closed)

    def test_from_the_environment(self):
        group = {"AGGNET_GROUP": "root=10.0.0.1,up=7,down=8,ranks=1", "AGGNET_RANK": "0"}
        for change, text in (({}, None), ({"AGGNET_GROUP": None}, "AGGNET_GROUP is not set"),
                             ({"AGGNET_RANK": None}, "AGGNET_RANK is not set"),
                             ({"AGGNET_RANK": "1.0"}, "AGGNET_RANK: '1.0' is not a number"),
                             ({"AGGNET_GROUP": ""}, "no root and no up and no down"),
                             ({"AGGNET_GROUP": "root=10.0.0.1,up=7,down=8,ranks=1,up=9"},
                              "a member twice"),
                             ({"AGGNET_GROUP": "root=10.0.0.1,up=x,down=8,ranks=1"},
                              "AGGNET_GROUP: up: 'x' is not a number")):
            now = {name: value for name, value in {**group, **change}.items() if value is not None}
            with unittest.mock.patch.dict(os.environ, now, clear=True):
                if text is None:
                    with aggnet.Group.from_environment("int32", "max") as joined:
                        self.assertEqual(joined.allreduce([3]), array("i", [3]))
                    continue
                with self.assertRaisesRegex(ValueError, text):
                    aggnet.Group.from_environment()
        with unittest.mock.patch.dict(os.environ, group), \
                aggnet.Group.from_environment(rank=0) as joined:
            self.assertEqual((joined.rank, joined.ranks), (0, 1))

    def test_an_exception_before_waiting_ends_the_group(self):
        group = self.group()
        with unittest.mock.patch.object(group, "_wait", side_effect=KeyboardInterrupt), \
                self.assertRaises(KeyboardInterrupt):
            group.barrier()
        self.assertTrue(group.closed)

    def test_a_buffer_that_shrinks_before_it_is_locked(self):
        whole = aggnet._group.pointer
        for other in None, array("q", bytes(80)):
            mine = array("q", bytes(80))

            def shrink(buffer, *rest):
                if buffer is mine:
                    del buffer[1:]
                return whole(buffer, *rest)
            with self.group() as group:
                with unittest.mock.patch.object(aggnet._group, "pointer", shrink), \
                        self.assertRaisesRegex(ValueError, "too small"):
                    group.allreduce(mine if other is None else other, out=other and mine)
                group.barrier()

    def test_a_group_is_not_copied(self):
        with self.group() as group:
            for copied in copy.copy, copy.deepcopy, pickle.dumps:
                with self.assertRaisesRegex(TypeError, "a group cannot be copied"):
                    copied(group)

    def test_limits(self):
        with self.group() as group:
            self.assertGreater(group.limit("allreduce"), 2**32)
            with self.assertRaises(ValueError):
                group.limit("all")


class Tap(unittest.TestResult):
    """Prints each test as a line."""

    def stopTest(self, test):
        super().stopTest(test)
        bad = [text for t, text in self.failures + self.errors if t is test]
        print("not ok" if bad else "ok", self.testsRun, "-",
              f"{type(test).__name__}: {test._testMethodName[5:].replace('_', ' ')}", flush=True)
        for line in "".join(bad).splitlines():
            print("#", line)


def main():
    suite = unittest.defaultTestLoader.loadTestsFromModule(__import__("__main__"))
    result = Tap()
    suite.run(result)
    print(f"1..{result.testsRun}")
    return not result.wasSuccessful() or not result.testsRun


if __name__ == "__main__":
    raise SystemExit(main())
