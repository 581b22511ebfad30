// SPDX-License-Identifier: Apache-2.0
//
// File: deliver.h
//
// Makes one attempt to tell somebody of a study's end. A program gets the JSON
// on standard input; it succeeded if it exits with 0. A webhook gets it as the
// body of a POST; it succeeded if it answers 2xx. curl makes that call and
// reads the URL from its standard input, so that no list of processes shows it.
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

// Those whom the operator has named in the file of --notify-file:
//
//   mail:
//     command: /usr/local/bin/study-ended
//   chat:
//     webhook: https://chat.example.org/hooks/SECRET
//
// A study names only the ids. A URL may hold a token, so the file is as private
// as a key, and no URL is ever logged or returned.

struct Destination {
  std::string program;  // an absolute path; empty: a webhook
  SecretString url;
};

using Destinations = std::map<std::string, Destination>;  // by id

// Reads the file. The error is REQUEST_INVALID at --notify-file when it is no
// such file, names a program that cannot be run, or has webhooks although curl
// is missing. It is TLS_FILE when others may read the file.
absl::StatusOr<Destinations> ReadDestinations(const std::string& path);
// Does the same with the file's text; `path` is for messages.
absl::StatusOr<Destinations> ParseDestinations(const std::string& text,
                                               const std::string& path);

// Checks the ids that a study names: they must be known, and not too many.
absl::Status CheckRegistered(
    const google::protobuf::RepeatedPtrField<std::string>& ids,
    const Destinations& destinations);

// Starts a program without a shell, gives it a text on standard input and waits
// for its end. The program inherits no descriptor, no blocked signal and few
// variables. It leads its own process group, which is killed with it.

// A program to run, and what it gets.
struct Program {
  std::vector<std::string> words;  // path or name on the PATH, then its args
  std::vector<std::string> variables;  // NAME=value, besides what it inherits
  std::string input;
  Duration limit = std::chrono::seconds(30);
};

// How a program ended.
struct Ran {
  int code = 0;           // as in a shell: 128 and more after a signal
  std::string last_line;  // of its output, cleaned and short
};

// Blocks until the program ends. The error is DEADLINE_EXCEEDED after the limit
// and CANCELLED once `stop` is raised; the group has then been killed. It is
// another one when nothing could be started.
absl::StatusOr<Ran> RunProgram(const Program& program, const StopSign& stop);

inline constexpr Duration kDeliveryLimit = std::chrono::seconds(30);

// Makes one attempt and blocks for at most `limit`. CANCELLED means that `stop`
// was raised; any other error says in words that may be logged why it failed.
absl::Status Deliver(const Destination& destination,
                     const storage::NotificationRow& notification,
                     const StopSign& stop, Duration limit = kDeliveryLimit);

// Returns what curl reads; public so that a test can look at it.
std::string CurlConfig(const std::string& url,
                       const storage::NotificationRow& notification,
                       Duration limit);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_NOTIFY_DELIVER_H_
