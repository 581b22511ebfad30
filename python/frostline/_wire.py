# SPDX-License-Identifier: Apache-2.0
"""The contract frostline.v1 on the wire: messages, channels, calls.

Messages are made from the descriptor set that lies beside this file, in a pool
of their own: there is no generated code that a newer protobuf could refuse, and
stubs of the user's own do not meet ours. gRPC and protobuf are imported by the
first call, not with this module."""
from __future__ import annotations

import importlib
import os
import pathlib
import random
import threading
import time
import uuid
import weakref
from typing import Any, Dict, Iterator, Optional

from . import errors

DEADLINE = 30.0  # seconds, of one call
PATIENCE = 120.0  # seconds, of one piece of work over all its calls
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
            raise errors.InvalidArgument(
                f"{name}: {error}", "see the fields in docs/reference/study-file.md",
                id="FL-1001") from None

    def plain(self, message: Any) -> Dict[str, Any]:
        """A message as a dictionary, with the names of its fields."""
        json_format = need("google.protobuf.json_format", "protobuf")
        return json_format.MessageToDict(message, preserving_proto_field_name=True)


def request_id() -> str:
    """For one piece of work: repeated with it, nothing happens twice."""
    return f"{int(time.time() * 1000):013d}-{uuid.uuid4().hex}"


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
        end, pause = time.monotonic() + patience, 0.2
        while True:
            try:
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
            fix = ("start one (frostline serve), or name its address with "
                   "FROSTLINE_CONNECT") if away else ""
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


def _forget_channels() -> None:
    global _lock
    _lock = threading.Lock()
    for channel in list(_channels):
        channel._after_fork()


os.register_at_fork(after_in_child=_forget_channels)
