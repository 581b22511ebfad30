// SPDX-License-Identifier: Apache-2.0
//
// File: idle_connections.h
#ifndef FROSTLINE_TLS_IDLE_CONNECTIONS_H_
#define FROSTLINE_TLS_IDLE_CONNECTIONS_H_

namespace frostline::tls {

// gRPC works at a connection while some call waits for it; without one, which
// is so whenever calls fail at once, it looks every five seconds. A handshake
// takes three looks, and so is over only after the coordinator has given it up:
// a client whose connection was cut came back after a minute, or by luck. After
// this it looks five times a second.
//
// For `main`, before other threads and the first channel.
void LookAfterIdleConnections();

}  // namespace frostline::tls

#endif  // FROSTLINE_TLS_IDLE_CONNECTIONS_H_
