#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""not_found_http2.py FILE: answers every call over plaintext HTTP/2 with 404,
as a web server does that knows no gRPC; its port is written to FILE."""
import pathlib
import socket
import sys

PREFACE = 24  # bytes, RFC 9113 3.4
DATA_ENDS = 0x5  # END_STREAM and END_HEADERS
SETTINGS, HEADERS = 4, 1
NOT_FOUND = b"\x8d"  # ":status: 404" in HPACK's static table, RFC 7541 A


def take(peer, count):
    """Exactly so many bytes; fewer when the peer has gone."""
    got = b""
    while len(got) < count:
        more = peer.recv(count - len(got))
        if not more:
            break
        got += more
    return got


def frame(kind, flags, stream, payload=b""):
    """RFC 9113 4.1."""
    return (len(payload).to_bytes(3, "big") + bytes((kind, flags)) +
            stream.to_bytes(4, "big") + payload)


def answer(peer):
    """Says 404 to whatever is asked until the peer goes."""
    take(peer, PREFACE)
    peer.sendall(frame(SETTINGS, 0, 0))
    while len(head := take(peer, 9)) == 9:
        take(peer, int.from_bytes(head[:3], "big"))
        stream = int.from_bytes(head[5:], "big")
        if head[3] == SETTINGS and not head[4]:
            peer.sendall(frame(SETTINGS, 1, 0))
        if head[3] == HEADERS:
            peer.sendall(frame(HEADERS, DATA_ENDS, stream, NOT_FOUND))


def main():
    """One peer at a time, until it is killed."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        pathlib.Path(sys.argv[1]).write_text(str(server.getsockname()[1]))
        while True:
            peer, _ = server.accept()
            with peer:
                answer(peer)


if __name__ == "__main__":
    main()
