// SPDX-License-Identifier: Apache-2.0
//
// File: bench_main.h
//
// The little that every benchmark shares. A benchmark is one program:
//
//   int main(int argc, char** argv) {
//     frostline::Bench bench(argc, argv);
//     bench.Figure("space.rates_us_14", bench.MicrosecondsPerCall(work));
//   }
//
// Each figure is one line of JSON on standard output; `./dev bench NAME` adds
// what machine it was. No benchmark fails because it was slow.
#ifndef FROSTLINE_TESTS_BENCH_BENCH_MAIN_H_
#define FROSTLINE_TESTS_BENCH_BENCH_MAIN_H_

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <functional>
#include <iostream>
#include <limits>
#include <string>

namespace frostline::bench {

class Bench {
 public:
  // Takes --quick and, where the benchmark reads one, `file_flag` with a path;
  // ends the program with exit code 2 on anything else.
  Bench(int argc, char** argv, const std::string& file_flag = "") {
    for (int i = 1; i < argc; ++i) {
      const std::string flag = argv[i];
      if (flag == "--quick") {
        quick_ = true;
      } else if (!file_flag.empty() && flag == file_flag && i + 1 < argc) {
        file_ = argv[++i];
      } else {
        std::cerr << "usage: " << argv[0] << " [--quick]"
                  << (file_flag.empty() ? "" : " [" + file_flag + " FILE]")
                  << "\n";
        std::exit(2);
      }
    }
  }

  // Fewer repeats, same work: never shorten what a figure's name says.
  bool quick() const { return quick_; }
  // What came with `file_flag`; empty without it.
  const std::string& file() const { return file_; }

  // `key` is <bench>.<what>_<unit>[_<size>]; letters, digits, '_' and '.'.
  void Figure(const std::string& key, double value) const {
    std::cout.precision(6);
    std::cout << "{\"" << key << "\": " << value << "}\n" << std::flush;
  }

  // The best of several rounds: what the code costs when nothing disturbs it.
  double MicrosecondsPerCall(const std::function<void()>& work) const {
    using Steady = std::chrono::steady_clock;
    const auto round = std::chrono::milliseconds(quick_ ? 20 : 200);
    double best = std::numeric_limits<double>::infinity();
    for (int i = 0; i < (quick_ ? 3 : 7); ++i) {
      int calls = 0;
      const Steady::time_point start = Steady::now();
      Steady::time_point now = start;
      for (; now - start < round; now = Steady::now(), calls += kBatch) {
        for (int j = 0; j < kBatch; ++j) work();
      }
      const std::chrono::duration<double, std::micro> spent = now - start;
      best = std::min(best, spent.count() / calls);
    }
    return best;
  }

 private:
  // Calls between two looks at the clock, which costs about 25 ns itself.
  static constexpr int kBatch = 16;

  bool quick_ = false;
  std::string file_;
};

// A benchmark that reads files, or asks for what may fail: says why it ended.
template <typename Run>
int RunBench(int argc, char** argv, const std::string& file_flag,
             const Run& run) {
  const Bench bench(argc, argv, file_flag);
  try {
    run(bench);
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
  return 0;
}

// Makes the compiler believe that `value` is used.
template <typename T>
void Keep(const T& value) {
  asm volatile("" : : "r,m"(value) : "memory");
}

}  // namespace frostline::bench

#endif  // FROSTLINE_TESTS_BENCH_BENCH_MAIN_H_
