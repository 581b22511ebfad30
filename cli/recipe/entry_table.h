// SPDX-License-Identifier: Apache-2.0
//
// File: entry_table.h
//
// The entries of a stage side by side: the score of each beside what it trains,
// how long that takes and how much memory, as a table, as one picture and as an
// answer.
#ifndef FROSTLINE_CLI_RECIPE_ENTRY_TABLE_H_
#define FROSTLINE_CLI_RECIPE_ENTRY_TABLE_H_

#include <string>
#include <vector>

#include "cli/recipe/recipe_record.h"
#include "cli/recipe/run_table.h"
#include "cli/report/report_page.h"
#include "frostline/v1/comparison.pb.h"

namespace frostline::cli {

// A run of one entry, over its seeds. What nobody measured is NaN.
struct EntryCost {
  std::string name;
  Spread score;
  Spread trained_weights;
  Spread seconds;  // of training
  Spread memory_mib;
};

// Returns the entries in the order in which `across` compares them, the one
// that the others are compared with first.
std::vector<EntryCost> EntryCostsOf(const RecipeRecord& record,
                                    const AcrossRecord& across);

// Returns a row for each entry: what it costs, and its difference to the first
// with the verdict of the test.
ReportTable EntryTable(const RecipeRecord& record, const AcrossRecord& across);

// Draws the score of each entry over trained weights, over seconds and over
// peak memory. Returns "" when there is nothing to draw.
std::string EntryCostsSvg(const RecipeRecord& record,
                          const AcrossRecord& across);

// Returns whether trying the rules was worth it, in one sentence, and which are
// surely not worse than the first by the margin, with the smallest difference
// that could have been seen:
//
//   Trying rules was not worth it: none beats 'full' for sure, where 4.1 points
//   of accuracy would have been seen. Surely not worse by 2 points: 'lora-4'.
std::string EntryAnswer(const AcrossRecord& across);

// Returns whether a search was worth it, in one sentence, from tests of rules
// that need none against its plan:
//
//   The search was not worth it: 'lora-4' (+0.3 points) and 2 other rules
//   cannot be told from the plan, where 4.1 points of accuracy would have been
//   seen.
std::string SearchAnswer(const v1::TrialComparison& comparison);

// Returns for a terminal the answer and the table of each stage whose entries
// were compared, or "" when none were.
std::string RenderEntries(const RecipeRecord& record, int width);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_RECIPE_ENTRY_TABLE_H_
