// SPDX-License-Identifier: Apache-2.0
//
// File: yaml_to_proto.h
//
// Conversion of YAML to messages. The field decides the type of a value: `1e-5`
// is a number in a field for numbers, and `no` is text in a field for text.
// Quoted text is never a number.
#ifndef FROSTLINE_CLI_STUDY_FILE_YAML_TO_PROTO_H_
#define FROSTLINE_CLI_STUDY_FILE_YAML_TO_PROTO_H_

#include <google/protobuf/message.h>

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/error.h"
#include "base/plain/yaml.h"

namespace frostline::cli {

// YAML as a tree of nodes with their places. Hostile files are limited in size,
// in depth, and in the number of nodes after aliases are expanded (an alias
// bomb is refused before). A repeated key, a second document and tags are
// refused too.

inline constexpr std::size_t kMaxYamlNodes = 100'000;
inline constexpr int kMaxYamlDepth = 100;

// Parses YAML. Returns STUDY_FILE_SYNTAX or FIELD_TOO_LARGE, made by ErrorAt().
absl::StatusOr<YamlPtr> ParseYaml(const std::string& text,
                                  const std::string& file);

// Returns an error whose cause starts with "FILE:LINE:COLUMN: ".
absl::Status ErrorAt(ErrorId id, const std::string& file, const YamlMark& mark,
                     const std::string& cause, const std::string& fix,
                     const std::string& field = "");

// Describes what a person wrote: "a list", "a map", "nothing", "'2e-5'".
std::string Describe(const YamlNode& node);

// What was expected in place of a bad value, and how to fix it.
struct Wanted {
  std::string what;  // "a finite number"
  std::string fix;
};

// Sets a field, or appends to a repeated one. Returns what was expected if the
// value does not fit, and nothing on success. REQUIRES: the field is not a
// message.
std::optional<Wanted> PutScalar(const YamlNode& node,
                                const google::protobuf::FieldDescriptor* field,
                                google::protobuf::Message* message);

// Returns whether this is a message of Protobuf that people write as a value:
// Duration ("60s"), Value, ListValue, Struct.
bool IsWellKnown(const google::protobuf::Descriptor& type);

// Sets such a message. Returns what was expected if the value does not fit.
// REQUIRES: IsWellKnown.
std::optional<Wanted> PutWellKnown(const YamlNode& node,
                                   google::protobuf::Message* message);

// The place of each field, such as "space.modules[0].levels" -> 7:15.
using FieldPlaces = std::map<std::string, YamlMark>;

// A converter that fills messages from YAML.
class YamlToProto {
 public:
  // Both must outlive this object. It adds entries to `places`.
  YamlToProto(const std::string& file, FieldPlaces* places)
      : file_(file), places_(places) {}

  // Fills `message`. `path` is the path of `node`, empty at the top. Returns
  // the first mistake: STUDY_FIELD_UNKNOWN with a suggestion, or
  // STUDY_FILE_SYNTAX.
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

// Returns the names of the fields in the order of the proto.
std::vector<std::string> FieldNames(
    const google::protobuf::Descriptor& message);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_STUDY_FILE_YAML_TO_PROTO_H_
