// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/prefix/boundary_maker.h"

#include <ATen/Parallel.h>
#include <ATen/Version.h>
#include <ATen/ops/cat.h>
#include <torch/version.h>

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "base/plain/sums.h"
#include "worker/trainer/device/device.h"
#include "worker/trainer/model/noise.h"

namespace frostline::trainer {
namespace {

// The version of our arithmetic. Raise it with each change that may change a
// bit of a boundary.
constexpr char kArithmetic[] = "frostline 4";

}  // namespace

at::ScalarType KindOfBoundary(Precision precision) {
  return precision == Precision::kBf16 ? at::kBFloat16 : at::kFloat;
}

std::string KernelFingerprint(const Device& device) {
  std::string text = std::string(kArithmetic) + "\n" + TORCH_VERSION + "\n" +
                     device.name() + "\n" + at::get_cpu_capability() + "\n" +
                     std::to_string(at::get_num_threads()) + "\n";
  // MKL and oneDNN choose kernels by the features that the processor reports.
  const CpuInfo cpu = ReadCpuInfo();
  text += cpu.vendor + " " + std::to_string(cpu.family);
  for (const std::string& flag : cpu.flags) text += " " + flag;
  return text;
}

std::string GroupKeyOf(const GroupParts& parts, const std::string& kernels) {
  Sha256Sum sum;
  sum.AddField(parts.weights_sha256);
  sum.AddField(parts.config_json);
  sum.AddField(parts.adapters);
  sum.AddNumber(static_cast<std::uint64_t>(parts.blocks));
  sum.AddNumber(parts.first_token ? 1 : 0);
  sum.AddField(NameOf(parts.precision));
  sum.AddField(parts.noise);
  sum.AddField(kernels);
  return sum.Finish();
}

namespace {

bool AreAll(const at::Tensor& rows, const at::Tensor& row) {
  for (std::int64_t i = 0; i < rows.size(0); ++i) {
    if (!rows[i].equal(row)) return false;
  }
  return true;
}

}  // namespace

BatchSizes::BatchSizes(KnownSizes& known, std::size_t most, Compute compute)
    : known_(known), most_(most), compute_(std::move(compute)) {
  if (known_.looked_at) return;
  const SizeSample& full = OfMost();
  known_.alone = !AreAll(full.layer, full.layer[0]);
  known_.top_alone = full.top.defined() && !AreAll(full.top, full.top[0]);
  known_.looked_at = true;
}

const SizeSample& BatchSizes::OfMost() {
  if (!of_most_) of_most_ = compute_(most_);
  return *of_most_;
}

bool BatchSizes::HasBitsOfMost(std::size_t size) {
  if (size == most_) return true;
  const auto [found, is_new] = known_.has_bits_of_most.try_emplace(size);
  if (!is_new) return found->second;
  const SizeSample less = compute_(size);
  const SizeSample& full = OfMost();
  const bool reads_top = less.top.defined() && !known_.top_alone;
  found->second = AreAll(less.layer, full.layer[0]) &&
                  (!reads_top || AreAll(less.top, full.top[0]));
  return found->second;
}

std::size_t BatchSizes::SizeFor(std::size_t texts) {
  if (known_.alone) return 1;
  std::vector<std::size_t> sizes;
  for (std::size_t size = most_; size > 0; size /= 2) sizes.push_back(size);
  const auto filled = std::ranges::find_if(
      sizes, [&](std::size_t size) { return size <= texts; });
  const auto has = [this](std::size_t size) { return HasBitsOfMost(size); };
  const auto largest = std::find_if(filled, sizes.end(), has);
  if (largest != sizes.end()) return *largest;
  return *std::find_if(std::reverse_iterator(filled), sizes.rend(), has);
}

at::Tensor NoiseOfRows(const TokenStore& tokens,
                       std::span<const std::uint32_t> rows,
                       const RowNoise& noise) {
  at::Tensor drawn =
      at::empty({static_cast<std::int64_t>(rows.size())}, at::kLong);  // [B]
  auto* out = drawn.mutable_data_ptr<std::int64_t>();
  for (const std::uint32_t row : rows) {
    const RowKey key = tokens.drawer(row);
    *out++ = static_cast<std::int64_t>(
        TextNoise(noise.seed, noise.epoch, key.high ^ key.low));
  }
  return drawn;
}

namespace {

// The tokens of a batch: enough for fast kernels, and few enough that texts of
// one length fill it.
constexpr std::size_t kTokensOfThread = 256;
constexpr std::size_t kTokensOnGpu = 16384;
constexpr std::size_t kMostTexts = 64;

Batch TextOf(const Batch& batch, std::int64_t text) {
  const auto one = [&](const at::Tensor& tensor) {
    return tensor.defined() ? tensor.narrow(0, text, 1) : tensor;
  };
  Batch single;
  single.ids = one(batch.ids);          // [1, N]
  single.mask = one(batch.mask);        // [1, N]
  single.types = one(batch.types);      // [1, N]
  single.noise = one(batch.noise);      // [1]
  single.lengths = one(batch.lengths);  // [1]
  return single;
}

}  // namespace

BoundaryMaker::BoundaryMaker(const Model& model, std::int64_t blocks,
                             Precision precision,
                             const std::optional<RowNoise>& noise,
                             SizesByLength* known)
    : model_(model),
      blocks_(blocks),
      precision_(precision),
      noise_(noise),
      first_token_(ReadsFirstToken(model.config(), model.heads()) &&
                   blocks > model.config().layers),
      known_(known == nullptr ? own_ : *known) {}

std::int64_t BoundaryMaker::TokensKept(std::size_t tokens) const {
  return first_token_ ? 1 : static_cast<std::int64_t>(tokens);
}

std::size_t BoundaryMaker::BytesOf(std::size_t tokens) const {
  return static_cast<std::size_t>(TokensKept(tokens) * model_.config().hidden) *
         c10::elementSize(kind());
}

std::size_t BoundaryMaker::MostTextsOf(std::size_t tokens) const {
  const std::size_t all =
      model_.device().is_cpu()
          ? kTokensOfThread * static_cast<std::size_t>(at::get_num_threads())
          : kTokensOnGpu;
  return std::clamp<std::size_t>(all / std::max<std::size_t>(tokens, 1), 1,
                                 kMostTexts);
}

// Returns a batch of `sizes` texts: those of `rows`, then the last one again.
Batch BoundaryMaker::BatchOf(const TokenStore& tokens, Rows rows,
                             std::size_t sizes, const at::Tensor& start) const {
  std::vector<std::uint32_t> all(rows.begin(), rows.end());
  all.resize(sizes, all.back());
  PaddedBatch padded;
  tokens.Pad(all, {}, padded);
  const auto shape = [&](std::vector<std::int64_t>& numbers) {
    return at::from_blob(numbers.data(),
                         {static_cast<std::int64_t>(padded.rows),
                          static_cast<std::int64_t>(padded.width)},
                         at::kLong)
        .clone();  // [B, N]
  };
  Batch batch;
  batch.ids = shape(padded.ids);    // [B, N]
  batch.mask = shape(padded.mask);  // [B, N]
  if (model_.config().types > 0) batch.types = shape(padded.types);
  if (noise_) batch.noise = NoiseOfRows(tokens, all, *noise_);  // [B]
  batch.boundary = start;                                       // [B, N, H]
  return MoveTo(
      PadTo(KernelsFor(model_.device()).pad_to, batch, model_.config()),
      model_.device());
}

at::Tensor BoundaryMaker::RunTop(const at::Tensor& hidden, const Batch& batch,
                                 bool alone) const {
  Pass pass;
  pass.training = batch.noise.defined();
  pass.first_token = true;
  const std::int64_t top = model_.config().layers;
  if (!alone) return model_.encoder().Run(hidden, batch, pass, top, top + 1);
  std::vector<at::Tensor> one_by_one;
  for (std::int64_t i = 0; i < hidden.size(0); ++i) {
    one_by_one.push_back(model_.encoder().Run(
        hidden.narrow(0, i, 1), TextOf(batch, i), pass, top, top + 1));
  }
  return at::cat(one_by_one);  // [B, 1, H]
}

at::Tensor BoundaryMaker::RunRounded(const at::Tensor& start,
                                     const Batch& batch, const Pass& pass,
                                     std::int64_t from, std::int64_t to) const {
  if (kind() == at::kFloat) {
    return model_.encoder().Run(start, batch, pass, from, to);  // [B, N, H]
  }
  at::Tensor hidden = start;  // [B, N, H]
  for (std::int64_t block = from; block < to; ++block) {
    hidden = model_.encoder()
                 .Run(hidden, batch, pass, block, block + 1)
                 .to(kind())
                 .to(at::kFloat);  // [B, N, H]
  }
  return hidden;
}

at::Tensor BoundaryMaker::Run(const TokenStore& tokens, Rows rows,
                              std::size_t sizes, bool top_alone,
                              const at::Tensor& start,
                              std::int64_t from) const {
  const Batch batch = BatchOf(tokens, rows, sizes, start);
  const at::NoGradGuard no_graph;
  const Autocast autocast(precision_, model_.device());
  Pass pass;
  pass.training = noise_.has_value();
  at::Tensor hidden = RunRounded(batch.boundary, batch, pass, from,
                                 first_token_ ? blocks_ - 1 : blocks_);
  if (first_token_) hidden = RunTop(hidden, batch, top_alone);
  return hidden.narrow(1, 0, TokensKept(tokens.ids(rows.front()).size()))
      .to(at::kCPU, kind())
      .contiguous();  // [B, N, H], or [B, 1, H]
}

SizeSample BoundaryMaker::SampleOf(const TokenStore& tokens, std::uint32_t row,
                                   std::size_t sizes) const {
  Batch batch = BatchOf(tokens, {&row, 1}, sizes, {});
  batch.noise = at::Tensor();
  const at::NoGradGuard no_graph;
  const Autocast autocast(precision_, model_.device());
  SizeSample sample;
  sample.layer = model_.encoder().Run({}, batch, {}, 0, 2);  // [B, N, H]
  if (first_token_) sample.top = RunTop(sample.layer, batch, false);
  return sample;
}

std::vector<std::uint32_t> BoundaryMaker::Start(
    const TokenStore& tokens, Rows rows, const Lower& lower, std::size_t sizes,
    at::Tensor& start, std::vector<std::uint32_t>& unread) const {
  const auto width = static_cast<std::int64_t>(tokens.ids(rows[0]).size());
  start = at::zeros(
      {static_cast<std::int64_t>(sizes), width, model_.config().hidden},
      kind());  // [B, N, H]
  const std::size_t bytes = start[0].nbytes();
  auto* into = static_cast<std::byte*>(start.mutable_data_ptr());
  std::vector<std::uint32_t> read;
  for (const std::uint32_t row : rows) {
    if (!lower.read(row, {into, bytes})) {
      unread.push_back(row);
      continue;
    }
    read.push_back(row);
    into += bytes;
  }
  return read;
}

Expected<Done> BoundaryMaker::Make(const TokenStore& tokens, Rows rows,
                                   const Lower* lower, const Take& take) {
  if (rows.empty()) return Done{};
  return CatchTorch([&]() -> Expected<Done> {
    const std::uint32_t first = rows.front();
    const std::size_t length = tokens.ids(first).size();
    BatchSizes known(
        known_[length], MostTextsOf(length),
        [&](std::size_t size) { return SampleOf(tokens, first, size); });
    const std::size_t bytes = BytesOf(length);
    std::vector<std::uint32_t> unread;
    while (!rows.empty()) {
      const std::size_t sizes = known.SizeFor(rows.size());
      const Rows asked = rows.first(std::min(sizes, rows.size()));
      rows = rows.subspan(asked.size());
      std::vector<std::uint32_t> some(asked.begin(), asked.end());
      at::Tensor start;
      if (lower != nullptr) {
        some = Start(tokens, asked, *lower, sizes, start, unread);
        if (some.empty()) continue;
      }
      Origin origin = {.from = lower == nullptr ? 0 : lower->blocks,
                       .opens_batch = true};
      const at::Tensor made =
          Run(tokens, some, sizes, known.top_alone(), start, origin.from);
      const auto* result = static_cast<const std::byte*>(made.const_data_ptr());
      for (const std::uint32_t row : some) {
        auto taken = take(row, {result, bytes}, origin);
        if (!taken.ok()) return taken;
        origin.opens_batch = false;
        result += bytes;
      }
    }
    return Make(tokens, unread, nullptr, take);
  });
}

}  // namespace frostline::trainer
