// SPDX-License-Identifier: Apache-2.0
//
// File: hostile_fields.h
//
// A good request spoilt in one field at a time, every field of its descriptor
// in every way its type allows: missing, oversized, non-finite, foreign, out of
// range.
#ifndef FROSTLINE_TESTS_SERVER_RPC_HOSTILE_FIELDS_H_
#define FROSTLINE_TESTS_SERVER_RPC_HOSTILE_FIELDS_H_

#include <google/protobuf/message.h>

#include <memory>
#include <string>
#include <vector>

namespace frostline::server {

struct Spoilt {
  std::string how;  // "lease.attempt = -1"
  std::unique_ptr<google::protobuf::Message> request;
};

std::vector<Spoilt> SpoilEachField(const google::protobuf::Message& good);

}  // namespace frostline::server

#endif  // FROSTLINE_TESTS_SERVER_RPC_HOSTILE_FIELDS_H_
