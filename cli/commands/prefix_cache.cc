// SPDX-License-Identifier: Apache-2.0
//
// `frostline cache`: what the trainers of this node keep of frozen layers.
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/plain/json.h"
#include "cli/commands/command.h"
#include "cli/commands/output_flags.h"
#include "cli/view/format.h"
#include "cli/view/trial_view.h"
#include "worker/registry/fit.h"

namespace frostline::cli {
namespace {

constexpr char kUsualCacheFolder[] = "frostline-runs/prefix";

struct CacheArgs {
  std::string folder;
  Output output;
};

std::string FolderOf(const CacheArgs& args) {
  if (!args.folder.empty()) return args.folder;
  const char* const told = std::getenv("FROSTLINE_PREFIX_DIR");
  return told == nullptr ? kUsualCacheFolder : told;
}

std::int64_t Whole(double number) {
  return static_cast<std::int64_t>(std::llround(number));
}

std::string PrefixCacheJsonOf(const std::vector<registry::KeptPrefix>& kept) {
  std::string text;
  for (const registry::KeptPrefix& each : kept) {
    absl::StrAppend(
        &text, text.empty() ? "" : ",",
        "\n  {\"about\": ", JsonString(each.about), ", \"bytes\": ", each.bytes,
        ", \"rows_taken\": ", Whole(each.rows_taken),
        ", \"seconds_saved\": ", JsonNumber(each.seconds_saved), "}");
  }
  return absl::StrCat("{\"kept\": [", text, text.empty() ? "]}\n" : "\n]}\n");
}

Table CacheTableOf(const std::vector<registry::KeptPrefix>& kept) {
  Table table({{"KEPT"},
               {"SIZE", Align::kRight},
               {"ROWS TAKEN", Align::kRight},
               {"SAVED", Align::kRight}});
  for (const registry::KeptPrefix& each : kept) {
    const auto bytes = static_cast<std::int64_t>(each.bytes);
    table.AddCells({{each.about},
                    {FormatBytes(bytes), absl::StrCat(bytes)},
                    CountCell(Whole(each.rows_taken)),
                    SecondsCell(each.seconds_saved)});
  }
  return table;
}

absl::StatusOr<ExitCode> ListPrefixCaches(const Session& session,
                                          const CacheArgs& args) {
  const std::string folder = FolderOf(args);
  const auto kept = registry::ListPrefixes(folder).value_or(
      std::vector<registry::KeptPrefix>());
  RETURN_IF_ERROR(PrintListJson(
      session.terminal, args.output, PrefixCacheJsonOf(kept),
      [&kept](bool) { return CacheTableOf(kept); },
      absl::StrCat("nothing is kept in ", folder,
                   "; --dir says where a worker keeps it")));
  if (args.output.format != Format::kTable || kept.empty()) return kExitOk;
  std::int64_t bytes = 0;
  for (const registry::KeptPrefix& each : kept) {
    bytes += static_cast<std::int64_t>(each.bytes);
  }
  std::cout << FormatBytes(bytes) << " in " << folder << "\n";
  return kExitOk;
}

ExitCode Clear(const CacheArgs& args) {
  const std::string folder = FolderOf(args);
  const auto removed =
      static_cast<std::int64_t>(registry::ClearPrefixes(folder));
  const auto left = registry::ListPrefixes(folder);
  std::cout << FormatBytes(removed) << " removed from " << folder;
  if (left && !left->empty()) {
    std::cout << "; " << left->size() << " kept, as trainers use them";
  }
  std::cout << "\n";
  return kExitOk;
}

}  // namespace

void AddCacheCommands(CLI::App& app, Invocation& invocation) {
  CLI::App* const noun = app.add_subcommand(
      "cache", "What this node's trainers keep of frozen layers: list, clear");
  noun->require_subcommand(1)->fallthrough();
  const auto args = std::make_shared<CacheArgs>();
  CLI::App* const list =
      AddVerb(*noun, "list", "List what is kept, what goes first on top",
              invocation, [args](Session& session) -> absl::StatusOr<ExitCode> {
                return ListPrefixCaches(session, *args);
              });
  CLI::App* const clear = AddVerb(
      *noun, "clear", "Remove all that no trainer uses", invocation,
      [args](Session&) -> absl::StatusOr<ExitCode> { return Clear(*args); });
  for (CLI::App* const verb : {list, clear}) {
    verb->add_option("--dir", args->folder,
                     "The worker's --prefix-dir; without it "
                     "$FROSTLINE_PREFIX_DIR counts, else "
                     "frostline-runs/prefix")
        ->type_name("DIR");
  }
  AddListFormats(list, args->output);
}

}  // namespace frostline::cli
