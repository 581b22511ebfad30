// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/error_text.h"

#include <google/protobuf/struct.pb.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/error.h"
#include "cli/view/format.h"
#include "proto/wire_error.h"

namespace frostline::cli {
namespace {

// What was typed, or stands in a file, sends a terminal no escape sequences.
// Its lines stay.
std::string ForTerminal(const std::string& text) {
  std::vector<std::string> lines = absl::StrSplit(text, '\n');
  for (std::string& line : lines) line = proto::CleanText(line, line.size());
  return absl::StrJoin(lines, "\n");
}

}  // namespace

// A mistake on the command line needs no heading: its cause says it all.
std::string ErrorText(const absl::Status& status) {
  if (!HasErrorId(status, ErrorId::kRequestInvalid)) {
    return ForTerminal(DescribeError(status));
  }
  return ForTerminal(absl::StrCat("error[", ErrorCode(ErrorId::kRequestInvalid),
                                  "]: ", status.message(),
                                  "\n  fix: ", DetailOf(status)->fix));
}

std::string ErrorJson(const absl::Status& status) {
  const ErrorDetail detail = DetailOf(status).value_or(ErrorDetail());
  google::protobuf::Struct fields;
  const auto set = [&fields](const char* name, const std::string& text) {
    (*fields.mutable_fields())[name].set_string_value(text);
  };
  set("id", ErrorCode(detail.id));
  set("reason", KindOf(detail.id).reason);
  set("cause", std::string(status.message()));
  set("field", detail.field);
  set("fix", detail.fix);
  (*fields.mutable_fields())["exit_code"].set_number_value(ExitCodeOf(status));
  google::protobuf::Struct error;
  *(*error.mutable_fields())["error"].mutable_struct_value() =
      std::move(fields);
  return ToJson(error);
}

}  // namespace frostline::cli
