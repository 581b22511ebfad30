// SPDX-License-Identifier: Apache-2.0
//
// Rows that stay on the device, and those that are sent there.
#include <utility>

#include "worker/trainer/prefix/boundaries.h"

namespace frostline::trainer {

Expected<at::Tensor> Boundaries::Of(const TokenStore& tokens,
                                    std::span<const std::uint32_t> rows,
                                    std::int64_t width) {
  if (resident_ == nullptr) return FromHost(tokens, rows, width);
  std::vector<ResidentRow> all;
  std::vector<ResidentRow> lacking;
  Rows lacking_rows;
  std::vector<std::int64_t> places;
  for (const std::uint32_t row : rows) {
    const ResidentRow one = {KeyOf(tokens, row),
                             maker_.TokensKept(tokens.ids(row).size())};
    if (!resident_->Has(key_, one.key)) {
      places.push_back(static_cast<std::int64_t>(all.size()));
      lacking.push_back(one);
      lacking_rows.push_back(row);
    }
    all.push_back(one);
  }
  const auto held = static_cast<std::int64_t>(all.size() - lacking.size());
  counts_.hits += held;
  worth_.taken += static_cast<double>(held);
  return CatchTorch([&]() -> Expected<at::Tensor> {
    at::Tensor batch;
    if (held > 0) {
      batch = resident_->Gather(
          key_, all, maker_.TokensKept(static_cast<std::size_t>(width)));
    }
    if (lacking.empty()) return batch;  // [B, N, H]
    Expected<at::Tensor> read = FromHost(tokens, lacking_rows, width);
    if (!read.ok()) return read.fault();
    const at::Tensor sent = std::move(read).value().to(device_);
    if (held > 0) {
      const at::Tensor index =
          at::from_blob(places.data(),
                        {static_cast<std::int64_t>(places.size())}, at::kLong)
              .to(device_);  // [M]
      batch.index_copy_(0, index, sent);
    } else {
      batch = sent;
    }
    Reside(lacking, sent);
    return batch;  // [B, N, H]
  });
}

void Boundaries::Reside(std::span<const ResidentRow> lacking,
                        const at::Tensor& boundary) {
  const Expected<Done> kept = CatchTorch([&]() -> Expected<Done> {
    resident_->Keep(key_, lacking, boundary);
    return Done{};
  });
  if (kept.ok()) return;
  work_.log("goes on without frozen layers' results on the device: " +
            kept.fault().cause);
  resident_->Clear();
  resident_ = nullptr;
}

}  // namespace frostline::trainer
