// SPDX-License-Identifier: Apache-2.0
#include "cli/view/prefix_view.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "cli/term/utf8.h"
#include "cli/view/format.h"
#include "proto/wire_error.h"

namespace frostline::cli {
namespace {

constexpr double kSeldom = 0.25;

// With how many layers frozen, behind the embeddings, a prefix is shared:
// embeddings alone are computed faster than they are read.
std::vector<std::int64_t> DepthsOf(const v1::FrozenPrefixes& prefixes) {
  std::vector<std::int64_t> depths;
  for (int frozen = 2; frozen < prefixes.chance_size(); ++frozen) {
    if (prefixes.chance(frozen) > 0) depths.push_back(frozen - 1);
  }
  return depths;
}

double ChanceOfSharing(const v1::FrozenPrefixes& prefixes) {
  double chance = 0.0;
  for (int frozen = 2; frozen < prefixes.chance_size(); ++frozen) {
    chance += prefixes.chance(frozen);
  }
  return chance;
}

std::string ChancesText(const v1::CreateStudyReply& reply) {
  const v1::FrozenPrefixes& prefixes = reply.prefixes();
  const double chance = ChanceOfSharing(prefixes);
  std::string text = absl::StrCat(
      FormatNumber(prefixes.expected()), " of ", prefixes.chance_size() - 1,
      " leading modules (embeddings, layers) are frozen on average; ");
  if (chance == 0.0) {
    return text +
           "no point of the space freezes the embeddings and a layer, "
           "so nothing is shared";
  }
  absl::StrAppend(&text, FormatNumber(100.0 * chance),
                  " % of the space freezes the embeddings and a layer, which "
                  "frostline-trainer shares");
  if (chance < kSeldom && !reply.study().spec().space().has_prefix_depth()) {
    absl::StrAppend(&text,
                    ". Independent rates seldom agree on that: search "
                    "prefix_depth to share more");
  }
  return text;
}

std::string SizesText(const v1::StudySpec& spec,
                      const std::vector<std::int64_t>& depths,
                      const std::optional<registry::BoundaryNeeds>& needs) {
  if (!needs.has_value()) {
    return absl::StrCat(
        "how large they are is not known here: no registry was found that has ",
        proto::CleanText(spec.model().id(), 100), " and ",
        proto::CleanText(spec.data().id(), 100), " (--registry DIR)");
  }
  std::int64_t bytes = 0;
  for (const std::int64_t depth : depths) bytes += needs->BytesAt(depth);
  std::string text = absl::StrCat(
      "at most ", FormatBytes(bytes),
      " on a node that sees all of it: ", depths.size(),
      depths.size() == 1 ? " depth, " : " depths, ", FormatCount(needs->texts),
      " texts of up to ", FormatCount(needs->tokens), " tokens, ",
      FormatCount(needs->hidden), " numbers of 4 bytes each");
  if (needs->top_is_one_token && depths.back() == needs->layers) {
    absl::StrAppend(&text, "; with all layers frozen, of one token");
  }
  return text + ". The worker's --prefix-bytes bounds it";
}

}  // namespace

std::string RenderPrefixes(const v1::CreateStudyReply& reply,
                           const std::optional<registry::BoundaryNeeds>& needs,
                           int width) {
  if (!reply.has_prefixes()) return "";
  const v1::StudySpec& spec = reply.study().spec();
  if (spec.freeze().mode() == v1::FreezeSemantics::LR0) {
    return "prefixes: nothing is shared, as lr0 computes frozen modules\n";
  }
  std::string text = WrapText("prefixes: " + ChancesText(reply), width);
  const std::vector<std::int64_t> depths = DepthsOf(reply.prefixes());
  if (depths.empty()) return text;
  const bool hf = spec.freeze().prefix_dropout() == v1::FreezeSemantics::HF;
  text += WrapText(absl::StrCat("boundaries: ",
                                hf ? "of evaluations alone (prefix_dropout "
                                     "hf), "
                                   : "",
                                SizesText(spec, depths, needs)),
                   width);
  return text;
}

}  // namespace frostline::cli
