// SPDX-License-Identifier: Apache-2.0
#include "server/notify/destinations.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/error.h"
#include "base/ids.h"
#include "base/plain/text.h"
#include "base/plain/yaml.h"
#include "server/wire/field_checks.h"
#include "server/wire/limits.h"
#include "tls/private_file.h"

namespace frostline::server {
namespace {

constexpr char kFlag[] = "--notify-file";
// `study update ID --notify none`.
constexpr char kNobody[] = "none";

absl::Status BadFile(const std::string& cause, const std::string& fix) {
  return MakeError(ErrorId::kRequestInvalid, cause, fix, kFlag);
}

// A quoted value may be a URL with its token.
std::string WithoutQuotes(const std::string& cause) {
  return cause.substr(0, cause.find(": '"));
}

bool IsProgram(const std::string& path) {
  struct stat found{};
  return stat(path.c_str(), &found) == 0 && S_ISREG(found.st_mode) &&
         access(path.c_str(), X_OK) == 0;
}

bool HasCurl() {
  const char* const path = std::getenv("PATH");
  const std::vector<std::string> folders =
      absl::StrSplit(path == nullptr ? "/usr/bin:/bin" : path, ':');
  return std::ranges::any_of(folders, [](const std::string& folder) {
    return IsProgram(absl::StrCat(folder, "/curl"));
  });
}

// What could end a line or a quote of curl's own file is in no URL.
bool IsUrl(const std::string& url) {
  const bool known =
      absl::StartsWith(url, "https://") || absl::StartsWith(url, "http://");
  return known && std::ranges::all_of(url, [](char c) {
           return c > ' ' && c < '\x7f' && c != '"' && c != '\\';
         });
}

absl::StatusOr<Destination> DestinationOf(const YamlEntry& entry,
                                          const std::string& path) {
  const std::string at =
      absl::StrCat(path, " line ", entry.key_mark.line, ": ");
  if (!CheckId(entry.key, kFlag).ok()) {
    return BadFile(absl::StrCat(at, Shown(entry.key), " is no id"),
                   "use up to 64 of a-z, 0-9, '.', '_', '-'");
  }
  if (entry.key == kNobody) {
    return BadFile(absl::StrCat(at, "none is what takes the others away"),
                   "give it another id, as mail or chat");
  }
  YamlFields fields(*entry.value, path, entry.key);
  Destination destination;
  destination.program = fields.Text("command").value_or("");
  destination.url = SecretString(fields.Text("webhook").value_or(""));
  fields.KnowOnly({"command", "webhook"});
  if (fields.fault()) {
    return BadFile(fields.fault()->cause, fields.fault()->fix);
  }
  if (destination.program.empty() == destination.url.empty()) {
    return BadFile(absl::StrCat(at, entry.key, " has to have one of two"),
                   "write command: /PATH/OF/A/PROGRAM or webhook: https://…");
  }
  if (!destination.url.empty() && !IsUrl(destination.url.Reveal())) {
    return BadFile(absl::StrCat(at, "the webhook of ", entry.key,
                                " is no URL of http or https"),
                   "write webhook: https://HOST/PATH, other characters as %XX");
  }
  if (!destination.program.empty() &&
      (destination.program.front() != '/' || !IsProgram(destination.program))) {
    return BadFile(
        absl::StrCat(at, destination.program, " is no program's full path"),
        "write the path from / of a file that the coordinator may run");
  }
  return destination;
}

}  // namespace

absl::StatusOr<Destinations> ParseDestinations(const std::string& text,
                                               const std::string& path) {
  const Expected<YamlNode> tree = ParseYamlSubset(text, path);
  if (!tree.ok()) {
    return BadFile(WithoutQuotes(tree.fault().cause), tree.fault().fix);
  }
  if (tree.value().kind != YamlNode::Kind::kMap) {
    return BadFile(absl::StrCat(path, " names nobody"),
                   "write ID: and below it, indented, command: /PATH/OF/A/"
                   "PROGRAM or webhook: https://…");
  }
  Destinations destinations;
  for (const YamlEntry& entry : tree.value().entries) {
    ASSIGN_OR_RETURN(Destination destination, DestinationOf(entry, path));
    destinations.emplace(entry.key, std::move(destination));
  }
  return destinations;
}

absl::StatusOr<Destinations> ReadDestinations(const std::string& path) {
  ASSIGN_OR_RETURN(const SecretString text, tls::ReadPrivateFile(path, kFlag));
  ASSIGN_OR_RETURN(Destinations destinations,
                   ParseDestinations(text.Reveal(), path));
  const bool has_webhook = std::ranges::any_of(
      destinations,
      [](const auto& named) { return !named.second.url.empty(); });
  if (has_webhook && !HasCurl()) {
    return BadFile(absl::StrCat(path, " has a webhook, and curl is not there"),
                   "install curl, or have its folder in the PATH");
  }
  return destinations;
}

absl::Status CheckRegistered(
    const google::protobuf::RepeatedPtrField<std::string>& ids,
    const Destinations& destinations) {
  constexpr char kField[] = "settings.notify";
  RETURN_IF_ERROR(CheckCount(ids.size(), kMaxNotify, kField));
  for (const std::string& id : ids) {
    if (destinations.contains(id)) continue;
    const std::string there = absl::StrJoin(
        destinations, ", ",
        [](std::string* out, const auto& named) { *out += named.first; });
    return MakeError(
        ErrorId::kRequestInvalid,
        absl::StrCat("this coordinator has no notification ", Shown(id)),
        there.empty()
            ? "leave notify out: the operator has registered none "
              "(frostline-coordinator --notify-file)"
            : absl::StrCat("use one of those that there are: ", there),
        kField);
  }
  return absl::OkStatus();
}

}  // namespace frostline::server
