// SPDX-License-Identifier: Apache-2.0
//
// File: yaml_to_proto.h
//
// The type of a value is what its field says, so `1e-5` is a number where one
// is wanted and `no` is text where that is. Text in quotes is never a number.
#ifndef FROSTLINE_CLI_STUDY_FILE_YAML_TO_PROTO_H_
#define FROSTLINE_CLI_STUDY_FILE_YAML_TO_PROTO_H_

#include <google/protobuf/message.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "cli/study_file/yaml_tree.h"

namespace frostline::cli {

struct Wanted {
  std::string what;  // "a finite number"
  std::string fix;
};

// Adds to a repeated field. Nothing means that it is done. REQUIRES: the field
// is no message.
std::optional<Wanted> PutScalar(const YamlNode& node,
                                const google::protobuf::FieldDescriptor* field,
                                google::protobuf::Message* message);

// People write these messages of Protobuf as values: Duration ("60s"), Value,
// ListValue, Struct.
bool IsWellKnown(const google::protobuf::Descriptor& type);

// REQUIRES: IsWellKnown.
std::optional<Wanted> PutWellKnown(const YamlNode& node,
                                   google::protobuf::Message* message);

// "space.modules[0].levels" -> 7:15.
using FieldPlaces = std::map<std::string, YamlMark>;

class YamlToProto {
 public:
  // Both must outlive this object; `places` is added to.
  YamlToProto(const std::string& file, FieldPlaces* places)
      : file_(file), places_(places) {}

  // `path` is where `node` stands, empty at the top. The first mistake ends it:
  // STUDY_FIELD_UNKNOWN with a suggestion, or STUDY_FILE_SYNTAX.
  absl::Status Fill(const YamlPtr& node, const std::string& path,
                    google::protobuf::Message* message) const;

 private:
  using Field = google::protobuf::FieldDescriptor;
  using Message = google::protobuf::Message;

  absl::Status FillField(const YamlEntry& entry, const std::string& path,
                         const Field* field, Message* message) const;
  absl::Status FillList(const YamlPtr& node, const std::string& path,
                        const Field* field, Message* message) const;
  absl::Status FillMap(const YamlPtr& node, const std::string& path,
                       const Field* field, Message* message) const;
  absl::Status FillValue(const YamlPtr& node, const std::string& path,
                         const Field* field, Message* message) const;
  absl::Status Twice(const YamlEntry& entry, const std::string& other,
                     const std::string& path) const;
  absl::Status Expected(const YamlNode& node, const std::string& path,
                        const Wanted& wanted) const;

  const std::string& file_;
  FieldPlaces* places_;
};

// Returns them in the order of the proto.
std::vector<std::string> FieldNames(
    const google::protobuf::Descriptor& message);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_STUDY_FILE_YAML_TO_PROTO_H_
