// SPDX-License-Identifier: Apache-2.0
#include "server/notify/deliver.h"

#include <algorithm>
#include <cstdint>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/error.h"
#include "server/notify/run_program.h"

namespace frostline::server {
namespace {

using storage::NotificationRow;

// curl keeps its own time; this is for one that does not.
constexpr Duration kCurlMore = std::chrono::seconds(2);

absl::Status RunCommand(const std::string& program,
                        const NotificationRow& notification,
                        const StopSign& stop, Duration limit) {
  ASSIGN_OR_RETURN(
      const Ran ran,
      RunProgram(
          {.words = {program},
           .variables = {"FROSTLINE_EVENT=study_ended",
                         absl::StrCat("FROSTLINE_STUDY=", notification.study),
                         absl::StrCat("FROSTLINE_DELIVERY=", notification.id)},
           .input = notification.body,
           .limit = limit},
          stop));
  if (ran.code == 0) return absl::OkStatus();
  return absl::UnknownError(absl::StrCat(
      "it exited with code ", ran.code,
      ran.last_line.empty() ? "" : absl::StrCat(": ", ran.last_line)));
}

// Words of curl's may show the URL, so they are not passed on.
absl::Status Post(const std::string& url, const NotificationRow& notification,
                  const StopSign& stop, Duration limit) {
  ASSIGN_OR_RETURN(const Ran ran,
                   RunProgram({.words = {"curl", "--disable", "--config", "-"},
                               .variables = {},
                               .input = CurlConfig(url, notification, limit),
                               .limit = limit + kCurlMore},
                              stop));
  if (ran.code != 0) {
    return absl::UnknownError(
        absl::StrCat("no answer: curl exited with code ", ran.code));
  }
  const bool is_taken =
      ran.last_line.size() == 3 && absl::StartsWith(ran.last_line, "2");
  if (is_taken) return absl::OkStatus();
  return absl::UnknownError(absl::StrCat("HTTP status ", ran.last_line));
}

std::string Quoted(const std::string& text) {
  return absl::StrCat(
      "\"", absl::StrReplaceAll(text, {{"\\", "\\\\"}, {"\"", "\\\""}}), "\"");
}

}  // namespace

// A redirect is not followed: the operator named this URL, not another.
std::string CurlConfig(const std::string& url,
                       const NotificationRow& notification, Duration limit) {
  const std::int64_t seconds =
      std::max<std::int64_t>(1, limit / std::chrono::seconds(1));
  return absl::StrCat("silent\ngloboff\noutput = \"/dev/null\"\n",
                      "write-out = \"%{http_code}\"\nproto = \"=http,https\"\n",
                      "max-time = ", seconds, "\nuser-agent = \"frostline\"\n",
                      "header = \"Content-Type: application/json\"\n",
                      "header = \"Frostline-Delivery: ", notification.id,
                      "\"\n", "url = ", Quoted(url),
                      "\ndata-raw = ", Quoted(notification.body), "\n");
}

absl::Status Deliver(const Destination& destination,
                     const NotificationRow& notification, const StopSign& stop,
                     Duration limit) {
  return destination.url.empty()
             ? RunCommand(destination.program, notification, stop, limit)
             : Post(destination.url.Reveal(), notification, stop, limit);
}

}  // namespace frostline::server
