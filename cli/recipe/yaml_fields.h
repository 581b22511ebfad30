// SPDX-License-Identifier: Apache-2.0
//
// File: yaml_fields.h
//
// Reads the keys of one map: each is taken by its name, and what nobody took is
// a mistake, with the key that was probably meant. The first mistake stays.
#ifndef FROSTLINE_CLI_RECIPE_YAML_FIELDS_H_
#define FROSTLINE_CLI_RECIPE_YAML_FIELDS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "cli/study_file/yaml_tree.h"

namespace frostline::cli {

class YamlFields {
 public:
  // `what` says in messages what the map is: "the recipe", "stage search".
  YamlFields(const YamlPtr& node, const std::string& file,
             const std::string& what);

  // Null where the key is not there.
  YamlPtr Take(const std::string& key);
  YamlPtr TakeMap(const std::string& key);
  // "" where it is not there.
  std::string TakeText(const std::string& key);
  std::string NeedText(const std::string& key, const std::string& example);
  double TakeNumber(const std::string& key);  // 0 where it is not there
  bool TakeFlag(const std::string& key);

  // All keys that nobody took, in the file's order; they count as taken.
  std::vector<YamlEntry> TakeRest();

  void Fail(const YamlMark& mark, ErrorId id, const std::string& cause,
            const std::string& fix, const std::string& field = "");
  // The first mistake, an unknown key among them.
  absl::Status Finish();

 private:
  YamlPtr node_;
  std::string file_;
  std::string what_;
  std::vector<std::string> known_;
  absl::Status error_;
};

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_RECIPE_YAML_FIELDS_H_
