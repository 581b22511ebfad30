// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/error_text.h"

#include <google/protobuf/struct.pb.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/exit_code.h"
#include "cli/view/format.h"

namespace frostline::cli {

// A mistake on the command line needs no heading: its cause says it all.
std::string ErrorText(const absl::Status& status) {
  if (!HasErrorId(status, ErrorId::kRequestInvalid)) {
    return DescribeError(status);
  }
  return absl::StrCat("error[", ErrorCode(ErrorId::kRequestInvalid),
                      "]: ", status.message(),
                      "\n  fix: ", DetailOf(status)->fix);
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
