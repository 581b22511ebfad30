// SPDX-License-Identifier: Apache-2.0
//
// File: deliver.h
//
// One try to tell somebody of a study's end. A program gets the JSON on
// standard input, and has done it when it exits with 0. A webhook gets it as
// the body of a POST, and answers 2xx; curl makes the call, and reads the URL
// from its standard input, so that no list of processes shows it.
#ifndef FROSTLINE_SERVER_NOTIFY_DELIVER_H_
#define FROSTLINE_SERVER_NOTIFY_DELIVER_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/clock.h"
#include "base/plain/result.h"
#include "base/secret.h"
#include "google/protobuf/repeated_ptr_field.h"
#include "storage/rows.h"

namespace frostline::server {

// Whom the operator has named, in the file of --notify-file:
//
//   mail:
//     command: /usr/local/bin/study-ended
//   chat:
//     webhook: https://chat.example.org/hooks/SECRET
//
// A study names the ids alone. A URL may hold a token, so the file is as
// private as a key, and no URL is ever logged or answered.

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

// Starts a program without a shell, gives it a text on standard input and waits
// for its end. The program inherits no descriptor, no blocked signal and few
// variables. It leads a process group of its own, which is killed with it.

struct Program {
  std::vector<std::string> words;  // a path, or a name on the PATH; its args
  std::vector<std::string> variables;  // NAME=value, besides what it inherits
  std::string input;
  Duration limit = std::chrono::seconds(30);
};

struct Ran {
  int code = 0;           // as a shell has it: 128 and more after a signal
  std::string last_line;  // that it wrote, cleaned and short
};

// Blocks. Answers DEADLINE_EXCEEDED after the limit and CANCELLED once `stop`
// is raised, when the group was killed; else an error when nothing could start.
absl::StatusOr<Ran> RunProgram(const Program& program, const StopSign& stop);

inline constexpr Duration kDeliveryLimit = std::chrono::seconds(30);

// Blocks, up to `limit`. CANCELLED says that `stop` was raised; every other
// error says why it was not told, in words that may be logged.
absl::Status Deliver(const Destination& destination,
                     const storage::NotificationRow& notification,
                     const StopSign& stop, Duration limit = kDeliveryLimit);

// What curl reads: made here so that a test can look at it.
std::string CurlConfig(const std::string& url,
                       const storage::NotificationRow& notification,
                       Duration limit);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_NOTIFY_DELIVER_H_
