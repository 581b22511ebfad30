// SPDX-License-Identifier: Apache-2.0
//
// File: destinations.h
//
// Whom the operator has named, in the file of --notify-file:
//
//   mail:
//     command: /usr/local/bin/study-ended
//   chat:
//     webhook: https://chat.example.org/hooks/SECRET
//
// A study names the ids alone. A URL may hold a token, so the file is as
// private as a key, and no URL is ever logged or answered.
#ifndef FROSTLINE_SERVER_NOTIFY_DESTINATIONS_H_
#define FROSTLINE_SERVER_NOTIFY_DESTINATIONS_H_

#include <map>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/secret.h"
#include "google/protobuf/repeated_ptr_field.h"

namespace frostline::server {

struct Destination {
  std::string program;  // an absolute path; empty: it is a webhook
  SecretString url;
};

using Destinations = std::map<std::string, Destination>;  // by id

// Answers REQUEST_INVALID at --notify-file for what is no such file, names no
// program that can be run, or has webhooks while curl is not there; and
// TLS_FILE when others may read it.
absl::StatusOr<Destinations> ReadDestinations(const std::string& path);
// The same of a file's text; `path` is for messages.
absl::StatusOr<Destinations> ParseDestinations(const std::string& text,
                                               const std::string& path);

// What a study may be told of: ids that are there, and not too many.
absl::Status CheckRegistered(
    const google::protobuf::RepeatedPtrField<std::string>& ids,
    const Destinations& destinations);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_NOTIFY_DESTINATIONS_H_
