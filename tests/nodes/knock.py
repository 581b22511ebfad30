# SPDX-License-Identifier: Apache-2.0
"""knock.py HOST: what a stranger on another host gets from a coordinator that
serves mTLS at 7443 and everything else to its own host: nothing."""
import socket
import ssl
import sys

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\0\0\0\4\0\0\0\0\0"  # SETTINGS
REQUEST = b"GET / HTTP/1.1\r\nHost: head\r\n\r\n"
# Of a call of StudyService.ListStudies, each literal and unindexed.
HEADERS = [(b":method", b"POST"), (b":scheme", b"https"), (b":authority", b"head"),
           (b":path", b"/frostline.v1.StudyService/ListStudies"),
           (b"content-type", b"application/grpc"), (b"te", b"trailers")]


def connect(host, port):
    connection = socket.create_connection((host, port), timeout=5)
    connection.settimeout(5)
    return connection


def heard(connection):
    """All that comes until the other side has enough."""
    data = b""
    try:
        while piece := connection.recv(65536):
            data += piece
    except OSError:
        pass
    return data


def check_closed(host, port):
    try:
        connect(host, port)
    except ConnectionRefusedError:
        return
    sys.exit(f"{host}:{port} can be reached")


def check_plaintext(host, words):
    with connect(host, 7443) as connection:
        connection.sendall(words)
        answer = heard(connection)
    # A TLS alert at most: no frame of HTTP/2, no line of HTTP.
    if answer and answer[:1] != b"\x15":
        sys.exit(f"plaintext was answered: {answer!r}")


def literal(name, value):
    return b"\0" + bytes([len(name)]) + name + bytes([len(value)]) + value


def check_without_certificate(host):
    """TLS with no certificate and no token: a call is refused as such."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.set_alpn_protocols(["h2"])
    block = b"".join(literal(*pair) for pair in HEADERS)
    call = len(block).to_bytes(3, "big") + b"\1\4\0\0\0\1" + block
    message = b"\0\0\5\0\1\0\0\0\1" + b"\0\0\0\0\0"
    try:
        with context.wrap_socket(connect(host, 7443)) as connection:
            connection.sendall(PREFACE + call + message)
            answer = heard(connection)
    except ssl.SSLError:
        return
    if b"the call shows neither a token nor a certificate" not in answer:
        sys.exit(f"a call without a certificate was answered: {answer!r}")


def main(host):
    check_closed(host, 7070)  # for the coordinator's own host
    check_closed(host, 7071)  # health, here for its own host too
    check_plaintext(host, PREFACE)
    check_plaintext(host, REQUEST)
    check_without_certificate(host)


main(*sys.argv[1:])
