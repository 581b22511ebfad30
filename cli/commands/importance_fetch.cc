// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/importance_fetch.h"

#include "base/status_macros.h"

namespace frostline {
namespace {

using Stub = v1::ImportanceService::Stub;

constexpr int kPairsPage = 1'000;

}  // namespace

absl::StatusOr<v1::PairMarginal> FetchTable(const Asked& asked) {
  v1::GetPairMarginalRequest request;
  request.set_study(asked.study);
  request.set_first(asked.options.parameters(0));
  request.set_second(asked.options.parameters(1));
  *request.mutable_options() = asked.options;
  return asked.client->Call(&Stub::GetPairMarginal, request);
}

absl::StatusOr<v1::ListPairsReply> FetchPairs(const Asked& asked) {
  v1::ListPairsRequest request;
  request.set_study(asked.study);
  *request.mutable_options() = asked.options;
  request.set_page_size(kPairsPage);
  v1::ListPairsReply all;
  do {
    ASSIGN_OR_RETURN(const v1::ListPairsReply page,
                     asked.client->Call(&Stub::ListPairs, request));
    all.MergeFrom(page);
    all.clear_next_page_token();
    request.set_page_token(page.next_page_token());
  } while (!request.page_token().empty());
  return all;
}

}  // namespace frostline
