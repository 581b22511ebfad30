#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""slow_proxy.py FILE HOST:PORT SECONDS: hands on what either side says, each
piece so much later; FILE has its port, FILE.peers a line for each connection."""
import pathlib
import socket
import sys
import threading
import time


def hand_on(source, target, seconds):
    """Until the source ends; a line of wire between the two."""
    try:
        while piece := source.recv(1 << 16):
            time.sleep(seconds)
            target.sendall(piece)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        pass  # the other side has gone


def main():
    """Until it is killed."""
    file, address, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3])
    host, port = address.rsplit(":", 1)
    with socket.create_server(("127.0.0.1", 0)) as server:
        pathlib.Path(file).write_text(str(server.getsockname()[1]))
        while True:
            peer, _ = server.accept()
            with open(file + ".peers", "a") as peers:
                peers.write("one\n")
            there = socket.create_connection((host, int(port)))
            for ends in ((peer, there), (there, peer)):
                threading.Thread(target=hand_on, args=(*ends, seconds),
                                 daemon=True).start()


if __name__ == "__main__":
    main()
