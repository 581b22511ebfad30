// SPDX-License-Identifier: Apache-2.0
//
// File: recipe_entries.h
//
// What `each` of a stage and `for` of a run stand for: every combination of
// their entries. Example: [{bert: …, roberta: …}, {yelp: …}] is bert-yelp and
// roberta-yelp.
#ifndef FROSTLINE_CLI_RECIPE_RECIPE_ENTRIES_H_
#define FROSTLINE_CLI_RECIPE_RECIPE_ENTRIES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/recipe/recipe_values.h"

namespace frostline::cli {

struct RecipeEntry {
  std::vector<std::string> names;
  RecipeValues values;
};

// A model or a data set that somebody wants in the place of a recipe's own.
struct Replacement {
  std::string key;  // "model" or "data"
  std::string id;   // empty: none is wanted
};

// Of `each`, its values put in; null is one entry without a name. An axis whose
// entries have the key of a replacement keeps those of that id, or has one
// entry of that name.
absl::StatusOr<std::vector<RecipeEntry>> EntriesOfEach(
    const YamlPtr& each, const std::string& file,
    const std::vector<Replacement>& replacements);

// Of `for`: {n: [1, 2]} or {n: {from: 1, to: 4}}; the names stay empty.
absl::StatusOr<std::vector<RecipeValues>> EntriesOfFor(const YamlPtr& loop,
                                                       const std::string& file);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_RECIPE_RECIPE_ENTRIES_H_
