// SPDX-License-Identifier: Apache-2.0
#include "sampler/optuna/numpy.h"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>

namespace frostline::sampler {

NumpyStream::NumpyStream(std::uint32_t seed) {
  // Knuth's linear congruential filling, the generator's own of 2002.
  words_[0] = seed;
  for (std::uint32_t i = 1; i < kWords; ++i) {
    const std::uint32_t before = words_[i - 1];
    words_[i] = 1812433253u * (before ^ (before >> 30)) + i;
  }
}

void NumpyStream::Turn() {
  constexpr std::size_t kShift = 397;
  for (std::size_t i = 0; i < kWords; ++i) {
    const std::uint32_t mixed =
        (words_[i] & 0x80000000u) | (words_[(i + 1) % kWords] & 0x7fffffffu);
    words_[i] = words_[(i + kShift) % kWords] ^ (mixed >> 1) ^
                ((mixed & 1u) != 0 ? 0x9908b0dfu : 0u);
  }
  next_ = 0;
}

std::uint32_t NumpyStream::NextBits() {
  if (next_ == kWords) Turn();
  std::uint32_t bits = words_[next_++];
  bits ^= bits >> 11;
  bits ^= (bits << 7) & 0x9d2c5680u;
  bits ^= (bits << 15) & 0xefc60000u;
  return bits ^ (bits >> 18);
}

double NumpyStream::Uniform() {
  const double high = NextBits() >> 5;  // 27 bits
  const double low = NextBits() >> 6;   // 26 bits
  return (high * 67108864.0 + low) / 9007199254740992.0;
}

std::vector<double> NumpyStream::Uniforms(std::size_t count) {
  std::vector<double> numbers(count);
  for (double& number : numbers) number = Uniform();
  return numbers;
}

double NumpySum(std::span<const double> numbers) {
  constexpr std::size_t kWays = 8, kBlock = 128;
  const std::size_t n = numbers.size();
  if (n < kWays) {
    return std::accumulate(numbers.begin(), numbers.end(), 0.0);
  }
  if (n > kBlock) {
    const std::size_t half = n / 2 - n / 2 % kWays;
    return NumpySum(numbers.first(half)) + NumpySum(numbers.subspan(half));
  }
  std::array<double, kWays> way;
  std::copy_n(numbers.begin(), kWays, way.begin());
  const std::size_t even = n - n % kWays;
  for (std::size_t i = kWays; i < even; ++i) way[i % kWays] += numbers[i];
  double sum = ((way[0] + way[1]) + (way[2] + way[3])) +
               ((way[4] + way[5]) + (way[6] + way[7]));
  for (std::size_t i = even; i < n; ++i) sum += numbers[i];
  return sum;
}

namespace {

constexpr std::size_t kNetworkSize = 256;
constexpr std::size_t kLanes = 4;
constexpr std::size_t kVectorsAtOnce = 4;
constexpr std::size_t kStride = kLanes * kVectorsAtOnce;

// Sorts places [begin, end) of `order` by what they stand for.
class VectorSort {
 public:
  VectorSort(const std::vector<double>& keys, std::vector<std::size_t>& order)
      : keys_(keys), order_(order) {}

  void Sort(std::size_t begin, std::size_t end, int depth) {
    if (depth <= 0) {  // the pivots were poor
      std::sort(At(begin), At(end), [this](std::size_t a, std::size_t b) {
        return keys_[a] < keys_[b];
      });
      return;
    }
    if (end - begin <= kNetworkSize) return SortByNetwork(begin, end);
    const double pivot = PivotOf(begin, end);
    double least = pivot, most = pivot;
    for (std::size_t i = begin; i < end; ++i) {
      least = std::min(least, Key(i));
      most = std::max(most, Key(i));
    }
    const std::size_t middle = Partition(begin, end, pivot);
    if (pivot != least) Sort(begin, middle, depth - 1);
    if (pivot != most) Sort(middle, end, depth - 1);
  }

 private:
  double Key(std::size_t place) const { return keys_[order_[place]]; }
  std::vector<std::size_t>::iterator At(std::size_t place) {
    return order_.begin() + static_cast<std::ptrdiff_t>(place);
  }

  void Exchange(std::size_t low, std::size_t high, std::size_t end) {
    if (high < end && Key(high) < Key(low)) {
      std::swap(order_[low], order_[high]);
    }
  }

  // Merges as Batcher's bitonic network does, with every comparison upwards:
  // sorted blocks meet mirrored, then at half the distance again and again.
  // Places beyond the end count as infinite.
  void SortByNetwork(std::size_t begin, std::size_t end) {
    const std::size_t size = std::bit_ceil(end - begin);
    for (std::size_t block = 2; block <= size; block *= 2) {
      for (std::size_t i = 0; i < size; ++i) {
        const std::size_t mirrored = i ^ (block - 1);
        if (i < mirrored) Exchange(begin + i, begin + mirrored, end);
      }
      for (std::size_t gap = block / 4; gap > 0; gap /= 2) {
        for (std::size_t i = 0; i < size; ++i) {
          if ((i & gap) == 0) Exchange(begin + i, begin + i + gap, end);
        }
      }
    }
  }

  double PivotOf(std::size_t begin, std::size_t end) const {
    const std::size_t step = (end - 1 - begin) / kLanes;
    std::array<double, kLanes> sample;
    for (std::size_t i = 0; i < kLanes; ++i) {
      sample[i] = Key(begin + (i + 1) * step);
    }
    std::sort(sample.begin(), sample.end());
    return sample[kLanes / 2];
  }

  // Four places of `from` are stored at both ends of the gap [left, right):
  // those below the pivot in order, the others from the end backwards.
  void Store(const std::size_t* from, double pivot, std::size_t& left,
             std::size_t& right) {
    for (std::size_t i = 0; i < kLanes; ++i) {
      if (keys_[from[i]] < pivot) {
        order_[left++] = from[i];
      } else {
        order_[--right] = from[i];
      }
    }
  }

  // Where those not below the pivot begin.
  std::size_t Partition(std::size_t begin, std::size_t end, double pivot) {
    for (std::size_t i = (end - begin) % kStride; i > 0; --i) {
      if (Key(begin) < pivot) {
        ++begin;
      } else {
        std::swap(order_[begin], order_[--end]);
      }
    }
    // The outermost vectors are put by and leave the gaps to store in.
    std::array<std::size_t, 2 * kStride> outer;
    std::copy(At(begin), At(begin + kStride), outer.begin());
    std::copy(At(end - kStride), At(end), outer.begin() + kStride);
    std::size_t left = begin, right = end;  // of what is still to be stored
    begin += kStride;
    end -= kStride;
    std::array<std::size_t, kStride> vectors;
    while (begin != end) {
      const bool from_right = right - end < begin - left;
      if (from_right) end -= kStride;
      std::copy_n(At(from_right ? end : begin), kStride, vectors.begin());
      if (!from_right) begin += kStride;
      for (std::size_t i = 0; i < kStride; i += kLanes) {
        Store(&vectors[i], pivot, left, right);
      }
    }
    for (std::size_t i = 0; i < outer.size(); i += kLanes) {
      Store(&outer[i], pivot, left, right);
    }
    return left;
  }

  const std::vector<double>& keys_;
  std::vector<std::size_t>& order_;
};

}  // namespace

std::vector<std::size_t> NumpyArgSort(const std::vector<double>& numbers) {
  std::vector<std::size_t> order(numbers.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (std::is_sorted(numbers.begin(), numbers.end())) return order;
  const int doublings = static_cast<int>(std::bit_width(numbers.size())) - 1;
  VectorSort(numbers, order).Sort(0, numbers.size(), 2 * doublings);
  return order;
}

}  // namespace frostline::sampler
