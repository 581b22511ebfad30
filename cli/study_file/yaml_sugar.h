// SPDX-License-Identifier: Apache-2.0
//
// File: yaml_sugar.h
//
// Short forms of a study file (docs/reference/study-file.md). They are
// rewritten as long forms and keep their lines and columns:
//
//   levels: [0, 2e-5]             ->  levels: {rates: [0, 2e-5]}
//   modules: {head: frozen}       ->  modules: [{select: head, fixed: 0}]
//   default: {full: 1e-3}         ->  default: {name: full, rate: 1e-3}
#ifndef FROSTLINE_CLI_STUDY_FILE_YAML_SUGAR_H_
#define FROSTLINE_CLI_STUDY_FILE_YAML_SUGAR_H_

#include <google/protobuf/descriptor.h>
#include <google/protobuf/duration.pb.h>
#include <google/protobuf/struct.pb.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/study_file/yaml_to_proto.h"

namespace frostline::cli {

// Values of YAML scalars. A number that would change its meaning is refused:
// 1e-999 would become 0, which means frozen.

// Parse decimal, finite numbers: "12", "-3.5", "2e-5".
std::optional<double> ReadDouble(const std::string& text);
std::optional<std::int64_t> ReadInt(const std::string& text);
std::optional<std::uint64_t> ReadUint(const std::string& text);
// Parses "true" or "false" in lower case.
std::optional<bool> ReadBool(const std::string& text);
// Parses "90s", "1h30m", "500ms", or plain seconds, as flags do.
std::optional<google::protobuf::Duration> ReadDuration(const std::string& text);

// Finds an enum value. It ignores case and the enum's prefix: "maximize" is
// DIRECTION_MAXIMIZE. It never returns the UNSPECIFIED value.
const google::protobuf::EnumValueDescriptor* ReadEnum(
    const std::string& text, const google::protobuf::EnumDescriptor& type);
// Returns a short name such as "maximize".
std::string ShortName(const google::protobuf::EnumValueDescriptor& value);

// Converts a scalar with the types of JSON: plain true, false, null and numbers
// keep their type, everything else (yes, no, on, dates) is text.
google::protobuf::Value ReadAny(const YamlNode& node);

// Rewrites a short form of `message` as its long form. Returns other nodes
// unchanged.
YamlPtr LongForm(const YamlPtr& node,
                 const google::protobuf::Descriptor& message);

// Rewrites a map in place of a repeated message as a list. Each key goes to the
// message's key field ("select" for modules). Returns other nodes unchanged.
YamlPtr LongList(const YamlPtr& node,
                 const google::protobuf::Descriptor& message);

// Rewrites a singular key as the plural: "ties" for "tie". Returns other keys
// unchanged.
std::string LongKey(const std::string& key,
                    const google::protobuf::Descriptor& message);

// Returns whether `frozen` may stand for 0.
bool MayBeFrozen(const google::protobuf::FieldDescriptor& field);

// These describe the short forms; "" means none. This one returns the field
// that a word or number sets, when it stands for the message.
std::string FieldOfScalar(const google::protobuf::Descriptor& message);
// Returns the field that a list sets when it stands for the message. For a
// range, a list sets `lo` and `hi`.
std::string FieldOfList(const google::protobuf::Descriptor& message);
bool IsRange(const google::protobuf::Descriptor& message);
// Returns the field that takes the keys of a map which stands for a list of
// these messages.
std::string FieldOfKey(const google::protobuf::Descriptor& message);
std::vector<std::string> StrategyNames();

YamlPtr ScalarNode(const std::string& text, const YamlMark& mark);
YamlPtr ListNode(std::vector<YamlPtr> items, const YamlMark& mark);
YamlPtr MapNode(std::vector<YamlEntry> entries, const YamlMark& mark);

std::vector<std::string> ObjectiveKeys();
bool IsObjectiveKey(const std::string& key);

// Replaces the short forms of objectives by one `objectives`. Returns
// OBJECTIVE_INVALID when `objectives` is there too, or when the direction of an
// `objective` is not well known.
absl::StatusOr<std::vector<YamlEntry>> LongObjectives(
    std::vector<YamlEntry> entries, const std::string& file);

// Rewrites `constraint: peak_memory_mib <= 8000`, or a list of such, as
// `constraints`.
inline constexpr char kConstraintKey[] = "constraint";
absl::StatusOr<std::vector<YamlEntry>> LongConstraints(
    std::vector<YamlEntry> entries, const std::string& file);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_STUDY_FILE_YAML_SUGAR_H_
