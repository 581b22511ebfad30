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
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "cli/study_file/field_value.h"
#include "cli/study_file/yaml_tree.h"

namespace frostline::cli {

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
