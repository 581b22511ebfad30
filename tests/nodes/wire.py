# SPDX-License-Identifier: Apache-2.0
"""A wire between two network namespaces, which is cut, loses and delays.

    wire.py NAMESPACE:DEVICE NAMESPACE:DEVICE SOCKET    the near end, the far one
    wire.py --tell SOCKET WORDS…                        a command; prints the answer

Each end is a TUN device, which goes with this process. Commands:

    loss SHARE               of the packets of each direction, at random
    delay MS JITTER_MS       of each packet, so they overtake each other too
    cut none|both|up|down    up: from the near end to the far one
    nat SECONDS ADDRESS KIND the far end sees ADDRESS; flows that were idle for
                             SECONDS are forgotten, and nobody is told. What goes
                             up later gets another port (KIND is loose) or is
                             dropped unless it begins a connection (strict)
    nat off
    counts                   packets carried and dropped, connections up
"""
import ctypes
import fcntl
import heapq
import json
import os
import random
import select
import socket
import struct
import sys
import time

from nat import Nat, begins_connection

CLONE_NEWNET = 0x40000000
TUNSETIFF = 0x400454CA
IFF_TUN = 0x0001
IFF_NO_PI = 0x1000
LONGEST_PACKET = 65536
SEED = 7  # which packets are lost is the same in each run


def enter(namespace):
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.setns(namespace.fileno(), CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), f"setns {namespace.name}")


def open_tun(end):
    """The descriptor of a new device in a namespace; it may be used from any."""
    namespace, device = end.split(":")
    with open("/proc/self/ns/net", "rb") as here, \
            open(f"/run/netns/{namespace}", "rb") as there:
        enter(there)
        tun = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
        fcntl.ioctl(tun, TUNSETIFF,
                    struct.pack("16sH", device.encode(), IFF_TUN | IFF_NO_PI))
        enter(here)
    return tun


class Wire:
    def __init__(self, near, far):
        self.near, self.far = near, far
        self.random = random.Random(SEED)
        self.loss, self.delay_s, self.jitter_s = 0.0, 0.0, 0.0
        self.cut = "none"
        self.nat = None
        self.counts = {"carried": 0, "dropped": 0, "connections": 0}
        self.under_way = []  # (when it arrives, in which order, to whom, packet)
        self.taken = 0

    def take(self, source):
        while True:
            try:
                packet = os.read(source, LONGEST_PACKET)
            except BlockingIOError:
                return
            if packet and packet[0] >> 4 == 4:
                self.carry(packet, source == self.near)

    def carry(self, packet, goes_up):
        now = time.monotonic()
        is_cut = self.cut in ("both", "up" if goes_up else "down")
        if not is_cut and goes_up and begins_connection(packet):
            self.counts["connections"] += 1
        if is_cut or self.random.random() < self.loss:
            self.counts["dropped"] += 1
            return
        if self.nat:
            translate = self.nat.up if goes_up else self.nat.down
            packet = translate(packet, now)
            if packet is None:
                self.counts["dropped"] += 1
                return
        due = now + max(0.0, self.delay_s + self.random.uniform(-1, 1) *
                        self.jitter_s)
        self.taken += 1
        heapq.heappush(self.under_way, (due, self.taken,
                                        self.far if goes_up else self.near, packet))

    def deliver(self):
        """Returns the seconds until the next packet is due; None: nothing is."""
        while self.under_way:
            wait_s = self.under_way[0][0] - time.monotonic()
            if wait_s > 0:
                return wait_s
            _, _, target, packet = heapq.heappop(self.under_way)
            try:
                os.write(target, packet)
                self.counts["carried"] += 1
            except OSError:  # its device is down, or its queue is full
                self.counts["dropped"] += 1
        return None

    def obey(self, words):
        match words:
            case ["loss", share]:
                self.loss = float(share)
            case ["delay", ms, jitter_ms]:
                self.delay_s, self.jitter_s = float(ms) / 1e3, float(jitter_ms) / 1e3
            case ["cut", ("none" | "both" | "up" | "down") as which]:
                self.cut = which
            case ["nat", "off"]:
                self.nat = None
            case ["nat", idle_s, address, ("loose" | "strict") as kind]:
                self.nat = Nat(float(idle_s), address, kind == "strict")
            case ["counts"]:
                return json.dumps(self.counts)
            case _:
                return "error: see the head of wire.py"
        return "ok"

    def run(self, control):
        parent = os.getppid()
        while os.getppid() == parent:  # a wire outlives no test
            wait_s = self.deliver()
            ready, _, _ = select.select([self.near, self.far, control], [], [],
                                        1.0 if wait_s is None else wait_s)
            for source in ready:
                if source is control:
                    words, sender = control.recvfrom(4096)
                    answer = self.obey(words.decode().split())
                    control.sendto(answer.encode(), sender)
                else:
                    self.take(source)


def tell(path, words):
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as asker:
        asker.bind("")  # a name of the kernel's choice, for the answer
        asker.settimeout(10)
        asker.sendto(" ".join(words).encode(), path)
        answer = asker.recv(4096).decode()
    print(answer)
    return 1 if answer.startswith("error") else 0


def main(arguments):
    if arguments[0] == "--tell":
        return tell(arguments[1], arguments[2:])
    near, far, path = arguments
    wire = Wire(open_tun(near), open_tun(far))
    control = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    control.bind(path)  # who finds it knows that both devices are there
    wire.run(control)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
