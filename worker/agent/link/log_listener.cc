// SPDX-License-Identifier: Apache-2.0
#include "worker/agent/link/log_listener.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/error.h"
#include "base/ids.h"
#include "base/log.h"
#include "base/plain/predictions_file.h"
#include "proto/rules.h"
#include "proto/wire_error.h"
#include "proto/wire_values.h"

namespace frostline::agent {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostText = 4096;
constexpr std::size_t kMostTexts = std::size_t{448} << 10;  // of all together

// Returns the path of the trial's file, or "".
std::string FindFile(const std::string& run_folder,
                     const v1::PredictionsWish& wish) {
  const auto name = ParseTrialName(wish.trial());
  if (!name.ok()) return "";
  for (std::int64_t attempt = wish.attempt(); attempt > 0; --attempt) {
    std::string path = absl::StrCat(run_folder, "/trials/", name->study_id, "/",
                                    name->number, "/", attempt, "/",
                                    PredictionsPath(wish.set(), wish.task()));
    std::error_code error;
    if (fs::is_regular_file(path, error)) return path;
  }
  return "";
}

// The columns of texts, cleaned one by one.
std::string TextIn(const std::string& line, std::size_t first_column) {
  std::vector<std::string> columns = absl::StrSplit(line, '\t');
  columns.erase(columns.begin(),
                columns.begin() + static_cast<std::ptrdiff_t>(
                                      std::min(first_column, columns.size())));
  for (std::string& column : columns) {
    column = proto::CleanText(column, kMostText);
  }
  return absl::StrJoin(columns, "\t");
}

// Finds examples in the file's order. It does not read beyond the last one.
class Finder {
 public:
  explicit Finder(const v1::PredictionsWish& wish) {
    const int most = proto::MaxItems<v1::SendPredictionsRequest>("examples");
    for (const std::int64_t example : wish.examples()) {
      if (std::cmp_less(wanted_.size(), most)) wanted_.insert(example);
    }
  }

  void Read(std::istream& file) {
    std::string line;
    if (!std::getline(file, line)) return;
    const std::vector<std::string> names = absl::StrSplit(line, '\t');
    of_words_ = names[0] == kWordColumn;
    const auto text = std::find(names.begin(), names.end(), kTextColumn);
    text_column_ = static_cast<std::size_t>(text - names.begin());
    while (!wanted_.empty() && begin_ <= *wanted_.rbegin() &&
           std::getline(file, line)) {
      Take(line);
    }
    EndSentence();
  }

  // Writes the examples in the order in which they were asked for, as many as
  // fit.
  void Tell(const v1::PredictionsWish& wish, v1::SendPredictionsRequest& out) {
    std::size_t bytes = 0;
    for (const std::int64_t example : wish.examples()) {
      const auto found = found_.find(example);
      if (found == found_.end()) continue;
      bytes += found->second.ByteSizeLong() + 8;
      if (bytes > kMostTexts) return;
      *out.add_examples() = found->second;
    }
  }

 private:
  void Take(const std::string& line) {
    if (!of_words_) {
      if (wanted_.contains(begin_)) {
        v1::ExampleText& one = found_[begin_];
        one.set_example(begin_);
        one.set_text(TextIn(line, text_column_));
      }
      ++begin_;
    } else if (line.empty()) {
      EndSentence();
    } else {
      const std::vector<std::string> columns = absl::StrSplit(line, '\t');
      // A word without a label is no example.
      const bool counts = columns.size() > 1 && !columns[1].empty();
      if (counts) labelled_.push_back(static_cast<int>(words_.size()));
      words_.push_back(columns[0]);
    }
  }

  void EndSentence() {
    const auto end = begin_ + static_cast<std::int64_t>(labelled_.size());
    for (auto one = wanted_.lower_bound(begin_);
         one != wanted_.end() && *one < end; ++one) {
      v1::ExampleText& text = found_[*one];
      text.set_example(*one);
      text.set_word(labelled_[static_cast<std::size_t>(*one - begin_)]);
      text.set_text(proto::CleanText(absl::StrJoin(words_, " "), kMostText));
    }
    begin_ = end;
    words_.clear();
    labelled_.clear();
  }

  std::set<std::int64_t> wanted_;
  std::map<std::int64_t, v1::ExampleText> found_;
  bool of_words_ = false;
  std::size_t text_column_ = 0;
  std::int64_t begin_ = 0;  // the next example, or the sentence's first
  std::vector<std::string> words_;
  std::vector<int> labelled_;  // which of them are examples
};

void ReadPiece(std::istream& file, const v1::PredictionsWish& wish,
               v1::SendPredictionsRequest& answer) {
  const std::int64_t left = answer.size() - wish.offset();
  if (left <= 0) return;
  const auto most = static_cast<std::int64_t>(
      proto::MaxBytes<v1::SendPredictionsRequest>("piece"));
  std::string piece(static_cast<std::size_t>(
                        std::min({left, most, std::int64_t{wish.max_bytes()}})),
                    '\0');
  file.seekg(wish.offset());
  file.read(piece.data(), static_cast<std::streamsize>(piece.size()));
  piece.resize(static_cast<std::size_t>(file.gcount()));
  answer.set_piece(std::move(piece));
}

}  // namespace

bool TrialHasPredictions(const std::string& trial_folder) {
  std::error_code error;
  for (const auto& attempt : fs::directory_iterator(trial_folder, error)) {
    std::error_code none;
    if (fs::is_directory(attempt.path() / kPredictionsFolder, none)) {
      return true;
    }
  }
  return false;
}

bool HasPredictions(const std::string& run_folder) {
  std::error_code error;
  for (const auto& study :
       fs::directory_iterator(run_folder + "/trials", error)) {
    std::error_code none;
    for (const auto& trial : fs::directory_iterator(study.path(), none)) {
      if (TrialHasPredictions(trial.path().string())) return true;
    }
  }
  return false;
}

v1::SendPredictionsRequest AnswerWish(const std::string& run_folder,
                                      const v1::PredictionsWish& wish) {
  v1::SendPredictionsRequest answer;
  answer.set_wish(wish.id());
  const std::string path = FindFile(run_folder, wish);
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (path.empty() || !file) {
    answer.set_gone(path.empty() ? "the trial's folder in " + run_folder +
                                       " was cleaned, or never held them"
                                 : path + " cannot be read");
    return answer;
  }
  answer.set_path(path);
  answer.set_size(file.tellg());
  file.seekg(0);
  if (wish.examples().empty()) {
    ReadPiece(file, wish, answer);
  } else {
    Finder finder(wish);
    finder.Read(file);
    finder.Tell(wish, answer);
  }
  return answer;
}

namespace {

constexpr Duration kWait = std::chrono::seconds(25);
// The time to sleep if nobody rings.
constexpr Duration kListenerSleep = std::chrono::hours(1);
// An empty answer that comes sooner than this means that the coordinator ends,
// or has another call from us.
constexpr Duration kEarly = std::chrono::seconds(1);
constexpr Duration kLongBackoff = std::chrono::seconds(5);
constexpr Duration kShortBackoff = std::chrono::milliseconds(500);
constexpr Duration kUntilUpgrade = std::chrono::minutes(1);

}  // namespace

LogListener::LogListener(RpcClient& client, const Clock& clock,
                         LeaseKeeper& keeper, std::string run_folder,
                         std::string worker_name, std::string boot_id)
    : client_(client),
      clock_(clock),
      keeper_(keeper),
      run_folder_(std::move(run_folder)),
      rng_(std::hash<std::string>()(boot_id)),
      backoff_(kShortBackoff, kLongBackoff) {
  request_.set_worker(std::move(worker_name));
  request_.set_boot_id(std::move(boot_id));
  *request_.mutable_wait() = proto::DurationToProto(kWait);
}

void LogListener::Start() {
  thread_ = std::thread([this] { Loop(); });
}

void LogListener::Stop() {
  {
    const MutexLock lock(&mutex_);
    stopped_ = true;
  }
  wakeup_.Ring();
  if (thread_.joinable()) thread_.join();
}

void LogListener::Loop() {
  // Once true it stays so: if the predictions were removed, the agent can say
  // that.
  bool has_predictions = false;
  while (true) {
    has_predictions = has_predictions || HasPredictions(run_folder_);
    const bool listens = keeper_.HoldsAny() || has_predictions;
    const Duration pause = listens ? ListenOnce() : kListenerSleep;
    if (pause > Duration::zero()) wakeup_.WaitFor(pause);
    const MutexLock lock(&mutex_);
    if (stopped_) return;
  }
}

// Sends the predictions that somebody wishes. A failure is only logged: the
// coordinator tells whoever asked that none came.
void LogListener::SendPredictions(const v1::ListenReply& wishes) {
  for (const v1::PredictionsWish& wish : wishes.predictions()) {
    v1::SendPredictionsRequest answer = AnswerWish(run_folder_, wish);
    answer.set_worker(request_.worker());
    answer.set_boot_id(request_.boot_id());
    const auto sent = client_.SendPredictions(answer);
    Log(sent.ok() ? LogLevel::kInfo : LogLevel::kWarning, "predictions_sent",
        {{"trial", wish.trial()},
         {"set", wish.set()},
         {"bytes", absl::StrCat(answer.ByteSizeLong())},
         {"status", sent.ok() ? "ok" : std::string(sent.status().message())}});
  }
}

Duration LogListener::ListenOnce() {
  const SteadyTime asked = clock_.Steady();
  const auto reply = client_.Listen(request_);
  if (reply.ok()) {
    backoff_.Reset();
    request_.set_seen(reply->seen());
    keeper_.NoteWishes(*reply);
    SendPredictions(*reply);
    const bool is_early = reply->wishes_size() == 0 &&
                          reply->predictions_size() == 0 &&
                          clock_.Steady() - asked < kEarly;
    return is_early ? kShortBackoff : Duration::zero();
  }
  // Another coordinator may be there next time, with the same wishes.
  request_.clear_seen();
  keeper_.NoteListenFailed();
  Log(LogLevel::kDebug, "not_listening",
      {{"cause", std::string(reply.status().message())}});
  return HasErrorId(reply.status(), ErrorId::kMethodNotBuilt)
             ? kUntilUpgrade
             : backoff_.Next(rng_);
}

}  // namespace frostline::agent
