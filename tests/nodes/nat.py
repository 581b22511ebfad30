# SPDX-License-Identifier: Apache-2.0
"""What a NAT does to TCP over IPv4: another source address and port on the way
up, the old ones on the way down, with both checksums; what is idle is forgotten
without a word."""
import socket
import struct

TCP = 6
SYN, ACK = 0x02, 0x10
FIRST_PORT, PORTS = 20000, 40000


def header_bytes(packet):
    return (packet[0] & 0x0F) * 4


def is_tcp(packet):
    return packet[9] == TCP and len(packet) >= header_bytes(packet) + 20


def begins_connection(packet):
    if not is_tcp(packet):
        return False
    return packet[header_bytes(packet) + 13] & (SYN | ACK) == SYN


def mended_sum(old_sum, old, new):
    """RFC 1624, equation 3: the checksum when `old` is replaced by `new`."""
    words = f"!{len(old) // 2}H"
    total = ~old_sum & 0xFFFF
    for before, after in zip(struct.unpack(words, old), struct.unpack(words, new)):
        total += (~before & 0xFFFF) + after
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def with_address(packet, at, address, port_at, port):
    """The packet with another address at byte `at` (12: source, 16:
    destination) and port at byte `port_at` of TCP's header (0 or 2)."""
    packet = bytearray(packet)
    tcp = header_bytes(packet)
    old_address = bytes(packet[at:at + 4])
    old_port = bytes(packet[tcp + port_at:tcp + port_at + 2])
    new_port = struct.pack("!H", port)
    (ip_sum,) = struct.unpack_from("!H", packet, 10)
    struct.pack_into("!H", packet, 10, mended_sum(ip_sum, old_address, address))
    (tcp_sum,) = struct.unpack_from("!H", packet, tcp + 16)
    struct.pack_into("!H", packet, tcp + 16,
                     mended_sum(tcp_sum, old_address + old_port, address + new_port))
    packet[at:at + 4] = address
    packet[tcp + port_at:tcp + port_at + 2] = new_port
    return bytes(packet)


class Nat:
    def __init__(self, idle_s, address, is_strict):
        self.idle_s = idle_s
        self.address = socket.inet_aton(address)
        self.is_strict = is_strict
        self.port_of = {}  # inner address and port, peer's address and port
        self.flow_at = {}  # by the outer port: the same, and when it was used
        self.next = 0

    def up(self, packet, now):
        if not is_tcp(packet):
            return None
        tcp = header_bytes(packet)
        flow = packet[12:16], packet[tcp:tcp + 2], packet[16:20], packet[tcp + 2:tcp + 4]
        port = self.port_of.get(flow)
        if port is None or self.is_over(port, now):
            if self.is_strict and not begins_connection(packet):
                return None
            port = FIRST_PORT + self.next % PORTS
            self.next += 1
            self.port_of[flow] = port
        self.flow_at[port] = flow, now
        return with_address(packet, 12, self.address, 0, port)

    def down(self, packet, now):
        if not is_tcp(packet) or packet[16:20] != self.address:
            return None
        tcp = header_bytes(packet)
        (port,) = struct.unpack_from("!H", packet, tcp + 2)
        if port not in self.flow_at or self.is_over(port, now):
            return None
        flow, _ = self.flow_at[port]
        inner, inner_port, peer, peer_port = flow
        if (packet[12:16], packet[tcp:tcp + 2]) != (peer, peer_port):
            return None
        self.flow_at[port] = flow, now
        return with_address(packet, 16, inner, 2, struct.unpack("!H", inner_port)[0])

    def is_over(self, port, now):
        return now - self.flow_at[port][1] > self.idle_s
