// SPDX-License-Identifier: Apache-2.0
//
// File: ordered_bytes.h
#ifndef FROSTLINE_SERVER_WIRE_ORDERED_BYTES_H_
#define FROSTLINE_SERVER_WIRE_ORDERED_BYTES_H_

#include <string>

#include "google/protobuf/message.h"

namespace frostline::server {

// Serialises a message, its maps in one order: the same bytes for the same
// content, within one version of the library.
std::string OrderedBytes(const google::protobuf::Message& message);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_WIRE_ORDERED_BYTES_H_
