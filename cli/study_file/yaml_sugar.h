// SPDX-License-Identifier: Apache-2.0
//
// File: yaml_sugar.h
//
// Short forms keep their lines and columns (docs/reference/study-file.md):
//
//   levels: [0, 2e-5]             ->  levels: {rates: [0, 2e-5]}
//   modules: {head: frozen}       ->  modules: [{select: head, fixed: 0}]
//   default: {full: 1e-3}         ->  default: {name: full, rate: 1e-3}
#ifndef FROSTLINE_CLI_STUDY_FILE_YAML_SUGAR_H_
#define FROSTLINE_CLI_STUDY_FILE_YAML_SUGAR_H_

#include <google/protobuf/descriptor.h>

#include <string>
#include <vector>

#include "cli/study_file/yaml_tree.h"

namespace frostline::cli {

// Rewrites a value where `message` is expected; the node stays the same where
// it is no short form.
YamlPtr LongForm(const YamlPtr& node,
                 const google::protobuf::Descriptor& message);

// Makes a list of the map of a repeated message, each value with its key in the
// message's key field ("select" of modules); else the node stays the same.
YamlPtr LongList(const YamlPtr& node,
                 const google::protobuf::Descriptor& message);

// Makes "ties" of "tie"; others stay the same.
std::string LongKey(const std::string& key,
                    const google::protobuf::Descriptor& message);

// Says whether `frozen` may stand for 0.
bool MayBeFrozen(const google::protobuf::FieldDescriptor& field);

// Of what the short forms are made, for who describes them; "" is none. A word
// or number in place of the message stands for this field …
std::string FieldOfScalar(const google::protobuf::Descriptor& message);
// … a list for this one, or, where it is a range, for `lo` and `hi` …
std::string FieldOfList(const google::protobuf::Descriptor& message);
bool IsRange(const google::protobuf::Descriptor& message);
// … and the keys of a map in place of a list of messages for this one.
std::string FieldOfKey(const google::protobuf::Descriptor& message);
std::vector<std::string> StrategyNames();

YamlPtr ScalarNode(const std::string& text, const YamlMark& mark);
YamlPtr ListNode(std::vector<YamlPtr> items, const YamlMark& mark);
YamlPtr MapNode(std::vector<YamlEntry> entries, const YamlMark& mark);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_STUDY_FILE_YAML_SUGAR_H_
