// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/prefix/boundary_maker.h"

#include <algorithm>
#include <vector>

#include "worker/trainer/device/autocast.h"

namespace frostline::trainer {
namespace {

// Of a batch: enough for kernels to be fast, few enough to fill up.
constexpr std::size_t kTokensOnCpu = 512;
constexpr std::size_t kTokensOnGpu = 16384;
constexpr std::size_t kMostTexts = 64;

}  // namespace

BoundaryMaker::BoundaryMaker(const Model& model, std::int64_t blocks,
                             Precision precision)
    : model_(model),
      blocks_(blocks),
      precision_(precision),
      first_token_(ReadsFirstToken(model.config(), model.head().spec()) &&
                   blocks > model.config().layers) {}

std::int64_t BoundaryMaker::TokensKept(std::size_t tokens) const {
  return first_token_ ? 1 : static_cast<std::int64_t>(tokens);
}

std::size_t BoundaryMaker::NumbersOf(std::size_t tokens) const {
  return static_cast<std::size_t>(TokensKept(tokens) * model_.config().hidden);
}

std::size_t BoundaryMaker::CompanyOf(std::size_t tokens) const {
  const std::size_t all =
      model_.device().is_cpu() ? kTokensOnCpu : kTokensOnGpu;
  return std::clamp<std::size_t>(all / std::max<std::size_t>(tokens, 1), 1,
                                 kMostTexts);
}

// The texts, then the last one again until they are `company`.
at::Tensor BoundaryMaker::Run(const TokenStore& tokens,
                              std::span<const std::uint32_t> rows,
                              std::size_t company) const {
  std::vector<std::uint32_t> all(rows.begin(), rows.end());
  all.resize(company, all.back());
  PaddedBatch padded;
  tokens.Pad(all, {}, padded);
  const auto shape = [&](std::vector<std::int64_t>& numbers) {
    return at::from_blob(numbers.data(),
                         {static_cast<std::int64_t>(padded.rows),
                          static_cast<std::int64_t>(padded.width)},
                         at::kLong);  // [B, N]
  };
  Batch batch;
  batch.ids = shape(padded.ids);    // [B, N]
  batch.mask = shape(padded.mask);  // [B, N]
  if (model_.config().types > 0) batch.types = shape(padded.types);
  const at::NoGradGuard no_graph;
  const Autocast autocast(precision_, model_.device());
  Pass pass;
  pass.frozen_blocks = blocks_;
  pass.first_token = first_token_;
  batch = PadTo(KernelsFor(model_.device()).pad_to, batch, model_.config());
  return model_.encoder()
      .Prefix(MoveTo(batch, model_.device()), pass)
      .narrow(1, 0, TokensKept(padded.width))
      .to(at::kCPU, at::kFloat)
      .contiguous();  // [B, N, H], or [B, 1, H]
}

std::size_t BoundaryMaker::SafeCompany(const TokenStore& tokens,
                                       std::uint32_t row) {
  const std::size_t length = tokens.ids(row).size();
  if (const auto known = company_.find(length); known != company_.end()) {
    return known->second;
  }
  std::size_t company = CompanyOf(length);
  const at::Tensor same = Run(tokens, {&row, 1}, company);
  for (std::int64_t i = 1; i < same.size(0); ++i) {
    if (!same[i].equal(same[0])) company = 1;
  }
  return company_[length] = company;
}

Expected<Done> BoundaryMaker::Make(const TokenStore& tokens,
                                   std::span<const std::uint32_t> rows,
                                   const Take& take) {
  if (rows.empty()) return Done{};
  return CatchTorch([&]() -> Expected<Done> {
    const std::size_t company = SafeCompany(tokens, rows.front());
    const std::size_t numbers = NumbersOf(tokens.ids(rows.front()).size());
    for (std::size_t at = 0; at < rows.size(); at += company) {
      const auto some = rows.subspan(at, std::min(company, rows.size() - at));
      const at::Tensor made = Run(tokens, some, company);
      const float* from = made.const_data_ptr<float>();
      for (const std::uint32_t row : some) {
        if (auto taken = take(row, {from, numbers}); !taken.ok()) return taken;
        from += numbers;
      }
    }
    return Done{};
  });
}

}  // namespace frostline::trainer
