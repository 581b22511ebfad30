// SPDX-License-Identifier: Apache-2.0
//
// File: yaml_sugar.h
//
// The short forms of a study file (docs/reference/study-file.md), rewritten to
// the shape of the proto message with lines and columns kept; tables in
// yaml_sugar.cc.
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

// Of a value where `message` is expected; the same node where it is no short
// form.
YamlPtr LongForm(const YamlPtr& node,
                 const google::protobuf::Descriptor& message);

// A list from the map of a repeated message, each value with its key in the
// message's key field ("select" of modules); else the same node.
YamlPtr LongList(const YamlPtr& node,
                 const google::protobuf::Descriptor& message);

// "ties" for "tie"; else the same.
std::string LongKey(const std::string& key,
                    const google::protobuf::Descriptor& message);

// Whether `frozen` may stand for 0.
bool MayBeFrozen(const google::protobuf::FieldDescriptor& field);

YamlPtr ScalarNode(const std::string& text, const YamlMark& mark);
YamlPtr ListNode(std::vector<YamlPtr> items, const YamlMark& mark);
YamlPtr MapNode(std::vector<YamlEntry> entries, const YamlMark& mark);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_STUDY_FILE_YAML_SUGAR_H_
