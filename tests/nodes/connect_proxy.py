# SPDX-License-Identifier: Apache-2.0
"""connect_proxy.py HOST PORT: a proxy that knows CONNECT alone, and says on
standard output whom it connected."""
import socket
import socketserver
import sys
import threading


def pump(source, target):
    try:
        while data := source.recv(65536):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        source.close()
        target.close()


class Proxy(socketserver.StreamRequestHandler):
    rbufsize = 0  # what comes behind the head belongs to the other side

    def handle(self):
        words = self.rfile.readline().decode().split()
        if len(words) != 3 or words[0] != "CONNECT":
            self.wfile.write(b"HTTP/1.1 405 CONNECT alone\r\n\r\n")
            return
        while self.rfile.readline().strip():
            pass
        target = words[1]
        host, port = target.rsplit(":", 1)
        with socket.create_connection((host, int(port)), timeout=10) as server:
            server.settimeout(None)
            print("connected", target, flush=True)
            self.wfile.write(b"HTTP/1.1 200 Connected\r\n\r\n")
            back = threading.Thread(target=pump, args=(server, self.connection))
            back.start()
            pump(self.connection, server)
            back.join()


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True


Server((sys.argv[1], int(sys.argv[2])), Proxy).serve_forever()
