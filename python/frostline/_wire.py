# SPDX-License-Identifier: Apache-2.0
"""The contract frostline.v1 on the wire: messages, channels, calls.

Messages are made from the descriptor set that lies beside this file, in a pool
of their own: there is no generated code that a newer protobuf could refuse, and
stubs of the user's own do not meet ours. gRPC and protobuf are imported by the
first call, not with this module."""
from __future__ import annotations

import difflib
import importlib
import os
import pathlib
import random
import re
import threading
import time
import uuid
import weakref
from typing import Any, Dict, Iterator, Optional

from . import errors
from .version import VERSION

DEADLINE = 30.0  # seconds, of one call
PATIENCE = 120.0  # seconds, of one piece of work over all its calls
# Of every call in a forked child: among threads that call on and on, one first call of
# 600 found its socket closed by what gRPC clears away of the parent's (1.76).
PATIENCE_AFTER_FORK = 2.0
_NO_FIELD = re.compile(r'Message type "frostline\.v1\.(\w+)" has no field named "([^"]+)"')
SET = pathlib.Path(__file__).with_name("frostline.v1.binpb")
_lock = threading.Lock()
_contract: Optional["Contract"] = None


def contract() -> "Contract":
    global _contract
    with _lock:
        if _contract is None:
            _contract = Contract(SET)
        return _contract


def need(package: str, of: str = "") -> Any:
    """A module that only some calls need."""
    try:
        return importlib.import_module(package)
    except ImportError as error:
        raise errors.PackageMissing(
            f"this call needs {of or package}: {error}",
            f"pip install {of or package}") from error


class Contract:
    """Messages and methods of frostline.v1, by name."""

    def __init__(self, path: pathlib.Path) -> None:
        descriptor_pb2 = need("google.protobuf.descriptor_pb2", "protobuf")
        descriptor_pool = need("google.protobuf.descriptor_pool", "protobuf")
        self._factory = need("google.protobuf.message_factory", "protobuf")
        if not path.exists():
            raise errors.BadFile(
                f"the contract is not in the package ({path.name})",
                "install the package (pip install ./python), or run ./dev python")
        files = descriptor_pb2.FileDescriptorSet.FromString(path.read_bytes())
        self.pool = descriptor_pool.DescriptorPool()
        for file in files.file:
            # As bytes: 3.20 with its C++ code takes nothing else.
            self.pool.AddSerializedFile(file.SerializeToString())
        self._classes: Dict[str, Any] = {}
        self._methods: Dict[str, Any] = {}

    def message(self, name: str) -> Any:
        """The class of frostline.v1.NAME."""
        if name not in self._classes:
            found = self.pool.FindMessageTypeByName(f"frostline.v1.{name}")
            self._classes[name] = self._class_of(found)
        return self._classes[name]

    def other(self, name: str) -> Any:
        """The class of a message of others, by its full name."""
        return self._class_of(self.pool.FindMessageTypeByName(name))

    def _class_of(self, descriptor: Any) -> Any:
        if hasattr(self._factory, "GetMessageClass"):  # protobuf 4.22 and later
            return self._factory.GetMessageClass(descriptor)
        if not hasattr(self, "_old_factory"):
            self._old_factory = self._factory.MessageFactory(self.pool)
        return self._old_factory.GetPrototype(descriptor)

    def method(self, service: str, name: str) -> Any:
        """(path, serializer, parser, whether it streams)"""
        key = f"{service}/{name}"
        if key not in self._methods:
            found = self.pool.FindServiceByName(f"frostline.v1.{service}")
            method = found.methods_by_name[name]
            streams = getattr(method, "server_streaming", None)
            if streams is None:  # of an old protobuf
                streams = name in ("WatchStudy", "ExportTrials")
            ask, answer = (self._class_of(t)
                           for t in (method.input_type, method.output_type))
            self._methods[key] = (f"/frostline.v1.{key}", ask, answer, streams)
        return self._methods[key]

    def make(self, name: str, content: Dict[str, Any]) -> Any:
        """A message from a dictionary in Protobuf's JSON."""
        json_format = need("google.protobuf.json_format", "protobuf")
        try:
            return json_format.ParseDict(content, self.message(name)())
        except json_format.ParseError as error:
            raise self._unfit(name, error) from None

    def _unfit(self, name: str, error: Exception) -> errors.Error:
        """In the words of study files what Protobuf's reader says in its own."""
        lost = _NO_FIELD.search(str(error))
        if not lost:
            return errors.InvalidArgument(
                f"{name}: {error}", "see the fields in docs/reference/study-file.md",
                id="FL-1001")
        kind, field = lost.groups()
        fields = [one.name for one in self.message(kind).DESCRIPTOR.fields]
        near = difflib.get_close_matches(field, fields, 1)
        return errors.InvalidArgument(
            f"there is no {field!r} here; there are: {', '.join(fields)}",
            f"did you mean {near[0]!r}?" if near else
            "see the fields in docs/reference/study-file.md", id="FL-1001", field=field)

    def plain(self, message: Any) -> Dict[str, Any]:
        """A message as a dictionary, with the names of its fields."""
        json_format = need("google.protobuf.json_format", "protobuf")
        return json_format.MessageToDict(message, preserving_proto_field_name=True)


def whole(value: Any) -> Any:
    """A value of JSON, in which 9.0 and 9 are one number: 9 here, so that it counts."""
    is_whole = isinstance(value, float) and value.is_integer() and abs(value) <= 2 ** 53
    return int(value) if is_whole else value


def request_id() -> str:
    """For one piece of work: repeated with it, nothing happens twice."""
    return f"{int(time.time() * 1000):013d}-{uuid.uuid4().hex}"


class _ForkGate:
    """Lets a process fork between calls only. gRPC makes its state fit for the child
    only where no thread is in a call; else the child's own calls may hang. A call
    that takes longer than PATIENCE is not waited for: the fork's thread comes first."""

    PATIENCE = 2.0  # seconds

    def __init__(self) -> None:
        self._changed = threading.Condition()  # held from before a fork until after it
        self._calls = 0
        self._forking: Optional[int] = None  # the thread that closed the gate

    def __enter__(self) -> None:
        with self._changed:
            while self._forking not in (None, threading.get_ident()):
                self._changed.wait()
            self._calls += 1

    def __exit__(self, *_: Any) -> None:
        with self._changed:
            self._calls -= 1
            self._changed.notify_all()

    def close(self) -> None:
        self._changed.acquire()
        self._forking = threading.get_ident()
        self._changed.wait_for(lambda: self._calls == 0, self.PATIENCE)

    def open(self) -> None:
        self._forking = None
        self._changed.notify_all()
        self._changed.release()


_gate = _ForkGate()
_channels: "weakref.WeakSet[Channel]" = weakref.WeakSet()


class Channel:
    """A way to one coordinator. A child of a fork gets a new one by itself."""

    def __init__(self, address: str, token: str = "", ca: str = "") -> None:
        self.address, self._token, self._ca = address, token, ca
        self._made: Any = None
        self._lock = threading.Lock()
        self._inherited: Any = None
        _channels.add(self)

    def _channel(self) -> Any:
        with self._lock:
            if self._made is None:
                if _cut_off:
                    raise errors.WrongProcess(_cut_off, "leave GRPC_ENABLE_FORK_SUPPORT "
                                              "unset, or call in the parent alone")
                grpc = need("grpc", "grpcio")
                options = [
                    # Of all forks only those are safe whose channels share
                    # nothing: see docs/how-to/your-trainer.md#forks.
                    ("grpc.use_local_subchannel_pool", 1),
                    ("grpc.max_receive_message_length", 16 << 20),
                    ("grpc.initial_reconnect_backoff_ms", 200),
                    ("grpc.max_reconnect_backoff_ms", 3000)]
                if self._ca:
                    roots = pathlib.Path(self._ca).read_bytes()
                    kind = grpc.ssl_channel_credentials(root_certificates=roots)
                    self._made = grpc.secure_channel(self.address, kind, options)
                else:
                    self._made = grpc.insecure_channel(self.address, options)
            return self._made

    def call(self, service: str, method: str, request: Any = None, /, *,
             deadline: float = DEADLINE, patience: float = 0.0,
             **fields: Any) -> Any:
        """One call. With patience it is repeated while the coordinator does not
        answer, with the same request, which happens once."""
        path, ask, answer, _ = contract().method(service, method)
        message = request if request is not None else ask(**fields)
        patience = max(patience, PATIENCE_AFTER_FORK if self._inherited else 0.0)
        end, pause = time.monotonic() + patience, 0.2
        while True:
            try:
                with _gate:
                    ready = self._channel().unary_unary(
                        path, request_serializer=ask.SerializeToString,
                        response_deserializer=answer.FromString)
                    return ready(message, timeout=deadline, metadata=self._metadata())
            except Exception as error:
                told = self._translated(error)
                again = isinstance(told, (errors.Unavailable, errors.DeadlineExceeded)) \
                    or told.reason in ("OVERLOADED", "CALLER_TOO_FAST")
                pause = min(5.0, pause * 2) * random.uniform(0.8, 1.2)
                wait = max(pause, told.retry_after or 0.0)
                if not again or time.monotonic() + wait > end:
                    raise told from None
                time.sleep(wait)

    def stream(self, service: str, name: str, request: Any,
               deadline: Optional[float] = None) -> Iterator[Any]:
        path, ask, answer, _ = contract().method(service, name)
        method = self._channel().unary_stream(
            path, request_serializer=ask.SerializeToString,
            response_deserializer=answer.FromString)
        call = method(request, timeout=deadline, metadata=self._metadata())
        try:
            yield from call
        except Exception as error:
            raise self._translated(error) from None
        finally:
            call.cancel()

    def _metadata(self):
        return (("authorization", f"Bearer {self._token}"),) if self._token else ()

    def _translated(self, error: Exception) -> errors.Error:
        grpc = need("grpc", "grpcio")
        if not isinstance(error, grpc.RpcError) or not hasattr(error, "code"):
            raise error
        code = error.code().name
        told = _details(error)
        if not told:
            away = code == "UNAVAILABLE"
            cause = f"no coordinator answers at {self.address}" if away else (
                error.details() or code)
            fix = ""
            if away:
                fix = ("call frostline.local() with its folder, here or in another "
                       "process: it starts anew, and the search goes on"
                       if self.address.startswith("unix:") else
                       "start one (frostline serve), or name its address with "
                       "FROSTLINE_CONNECT")
            if code == "UNIMPLEMENTED":
                cause = f"the coordinator at {self.address} is older than this package"
                fix = f"update it (frostline-server {VERSION}), or install its own version here"
            told = {"cause": cause, "fix": fix, "id": "FL-4003" if away else "PY-1000"}
        kind = errors.for_status(code)
        if told.get("reason") == "LEASE_LOST":
            kind = errors.LeaseLost
        return kind(told.pop("cause", "") or error.details(), told.pop("fix", ""), **told)

    def close(self) -> None:
        with self._lock:
            made, self._made = self._made, None
        if made is not None:
            made.close()

    def _after_fork(self) -> None:
        # The parent's channel is neither used nor closed here; the reference
        # stays, since its end would close it.
        self._inherited, self._made = self._made, None
        self._lock = threading.Lock()


def _details(error: Any) -> Dict[str, Any]:
    """What the coordinator's status says besides its code."""
    for key, value in error.trailing_metadata() or ():
        if key != "grpc-status-details-bin":
            continue
        made = contract()
        told: Dict[str, Any] = {}
        for one in made.message("StatusDetails").FromString(value).details:
            kind = one.type_url.rsplit(".", 1)[-1]
            if kind == "ErrorInfo":
                info = made.message("ErrorInfo").FromString(one.value)
                told["reason"] = info.reason
                for name in ("id", "cause", "fix", "field"):
                    told[name] = info.metadata.get(name, "")
            elif kind == "RetryInfo":
                delay = made.message("RetryInfo").FromString(one.value).retry_delay
                told["retry_after"] = delay.seconds + delay.nanos / 1e9
        return told
    return {}


# Why this process cannot call: gRPC was in use when it was forked, and had been told
# not to care about forks. Calls would hang here, beyond their deadlines.
_cut_off = ""


def _forget_channels() -> None:
    global _lock, _gate, _cut_off
    _lock, _gate = threading.Lock(), _ForkGate()
    off = os.environ.get("GRPC_ENABLE_FORK_SUPPORT", "1").lower() in ("0", "false", "no")
    if off and any(channel._made is not None for channel in _channels):
        _cut_off = (f"process {os.getpid()} was forked from one that uses gRPC, with "
                    "GRPC_ENABLE_FORK_SUPPORT off: its calls would hang")
    for channel in list(_channels):
        channel._after_fork()


os.register_at_fork(before=lambda: _gate.close(), after_in_parent=lambda: _gate.open(),
                    after_in_child=_forget_channels)
