// SPDX-License-Identifier: Apache-2.0
#include "cli/report/record_json.h"

#include <google/protobuf/util/json_util.h>

#include "absl/strings/str_cat.h"
#include "base/error.h"

namespace frostline::cli {

using google::protobuf::Message;
using google::protobuf::Struct;
using google::protobuf::Value;

std::string RecordJson(const Message& message) {
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  std::string json;
  const auto written =
      google::protobuf::util::MessageToJsonString(message, &json, options);
  return written.ok() ? json : "{}";
}

absl::Status NoRecord(const RecordKind& kind, const std::string& why) {
  return MakeError(ErrorId::kRequestInvalid,
                   absl::StrCat("this is no record of ", kind.what, ": ", why),
                   absl::StrCat("make one with `", kind.make, "`"));
}

absl::StatusOr<Struct> ReadRecordStruct(const RecordKind& kind,
                                        const std::string& text) {
  Struct all;
  const auto parsed = google::protobuf::util::JsonStringToMessage(text, &all);
  if (!parsed.ok()) return NoRecord(kind, std::string(parsed.message()));
  const auto found = all.fields().find(kind.version_key);
  if (found == all.fields().end()) {
    return NoRecord(kind, absl::StrCat("it has no \"", kind.version_key, "\""));
  }
  if (found->second.number_value() <= kind.version) return all;
  return MakeError(ErrorId::kRequestInvalid,
                   "the record is of a later version of Frostline",
                   "read it with that version, or make it again with this one");
}

absl::Status ReadRecordPart(const RecordKind& kind, const Value& value,
                            Message& message) {
  std::string json;
  auto read = google::protobuf::util::MessageToJsonString(value, &json);
  if (read.ok()) {
    read = google::protobuf::util::JsonStringToMessage(json, &message);
  }
  if (read.ok()) return absl::OkStatus();
  return NoRecord(kind, std::string(read.message()));
}

}  // namespace frostline::cli
