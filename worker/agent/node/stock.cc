// SPDX-License-Identifier: Apache-2.0
#include "worker/agent/node/stock.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "base/log.h"
#include "base/mutex.h"
#include "base/plain/file.h"
#include "base/plain/yaml.h"
#include "proto/rules.h"
#include "worker/registry/check.h"

#if __has_include(<linux/openat2.h>) && defined(SYS_openat2)
#include <linux/openat2.h>
#define FROSTLINE_HAS_OPENAT2 1
#else
#define FROSTLINE_HAS_OPENAT2 0
#endif

namespace frostline::agent {
namespace {

namespace fs = std::filesystem;
using Answer = registry::KnownSums::Answer;

constexpr std::size_t kMostLacking = 500;  // bytes of a line of the log

// Says whether this error means that the file is absent. Any other error, such
// as a stale handle or too few descriptors, says nothing about the file.
bool SaysAbsent(int error) {
  switch (error) {
    case ENOENT:
    case ENOTDIR:
    case ELOOP:
    case EXDEV:
    case EACCES:
    // No file can have such a name, or it is that of a socket.
    case ENAMETOOLONG:
    case ENXIO:
      return true;
    default:
      return false;
  }
}

// Returns a text that differs after the file was written or replaced; "" if the
// disk does not say. The change time is part of it, as a program can set the
// modification time back.
std::string StampOf(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return SaysAbsent(errno) ? "absent" : "";
  struct stat info{};
  const bool is_known = fstat(fd, &info) == 0;
  close(fd);
  if (!is_known) return "";
  return absl::StrCat(info.st_dev, ".", info.st_ino, ".", info.st_size, ".",
                      info.st_mtim.tv_sec, ".", info.st_mtim.tv_nsec, ".",
                      info.st_ctim.tv_sec, ".", info.st_ctim.tv_nsec);
}

enum class Sight { kThere, kAbsent, kUnknown };

Sight SightOf(int error) {
  return SaysAbsent(error) ? Sight::kAbsent : Sight::kUnknown;
}

// Does the same as See() on a kernel before 5.6, or in a sandbox that does not
// know openat2.
Sight SeeStepwise(const fs::path& root, const fs::path& path) {
  const auto is_up = [](const fs::path& part) { return part == ".."; };
  if (path.is_absolute() || std::any_of(path.begin(), path.end(), is_up)) {
    return Sight::kAbsent;
  }
  fs::path step = root;
  struct stat info{};
  for (const fs::path& part : path) {
    step /= part;
    if (lstat(step.c_str(), &info) != 0) return SightOf(errno);
    if (S_ISLNK(info.st_mode)) return Sight::kAbsent;
  }
  if (!S_ISREG(info.st_mode)) return Sight::kAbsent;
  return access(step.c_str(), R_OK) == 0 ? Sight::kThere : SightOf(errno);
}

// Looks whether a file is there. A path must not lead out of the root, by
// itself or by a link: the trainer opens no such file
// (worker/trainer/data/input_file.cc).
Sight See(int root_fd, const std::string& root, const std::string& path) {
  if (path.find('\0') != std::string::npos) return Sight::kAbsent;
#if FROSTLINE_HAS_OPENAT2
  open_how how{};
  how.flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  const long fd =
      syscall(SYS_openat2, root_fd, path.c_str(), &how, sizeof(how));
  if (fd >= 0) {
    struct stat info{};
    const bool is_known = fstat(static_cast<int>(fd), &info) == 0;
    close(static_cast<int>(fd));
    if (!is_known) return Sight::kUnknown;
    return S_ISREG(info.st_mode) ? Sight::kThere : Sight::kAbsent;
  }
  if (errno != ENOSYS && errno != EPERM) return SightOf(errno);
#endif
  return SeeStepwise(root, path);
}

Sight SightOf(Answer answer) {
  switch (answer) {
    case Answer::kRight:
      return Sight::kThere;
    case Answer::kUnknown:
      return Sight::kUnknown;
    case Answer::kWrong:
    case Answer::kLater:
      break;
  }
  return Sight::kAbsent;
}

std::optional<v1::ModelBounds> BoundsOf(const registry::Registry& registry,
                                        const std::string& model) {
  const auto facts = registry::LookAtModel(registry, model);
  if (!facts.ok()) return std::nullopt;
  v1::ModelBounds bounds;
  bounds.set_layers(static_cast<std::int32_t>(facts->layers));
  bounds.set_heads(static_cast<std::int32_t>(facts->heads));
  bounds.set_longest_text(facts->longest_text);
  return bounds;
}

bool Fits(const google::protobuf::RepeatedPtrField<v1::StockItem>& items,
          const std::string& id, const std::string& sha256) {
  if (id.empty()) return true;
  return std::any_of(items.begin(), items.end(), [&](const auto& item) {
    const bool any = sha256.empty() || item.sha256().empty();
    return item.id() == id && (any || item.sha256() == sha256);
  });
}

}  // namespace

StockReader::StockReader(std::string registry, std::uint64_t most_bytes)
    : registry_(std::move(registry)),
      most_bytes_(most_bytes),
      sums_(registry_) {}

v1::Stock StockReader::Read(bool anew) {
  sums_.AllowToRead(most_bytes_);
  Refresh(anew, models_);
  Refresh(anew, data_sets_);
  v1::Stock stock;
  std::string lacking;
  List(models_, stock.mutable_models(), &lacking);
  AddBounds(*stock.mutable_models());
  List(data_sets_, stock.mutable_data_sets(), &lacking);
  if (lacking != lacking_) {
    Log(lacking.empty() ? LogLevel::kInfo : LogLevel::kWarning, "stock_lacks",
        {{"files", lacking}});
  }
  lacking_ = lacking;
  return stock;
}

void StockReader::Refresh(bool anew, RegistryFile& file_read) {
  const std::string path = registry_ + "/" + file_read.file;
  // The stamp is taken before the file is read: a change meanwhile is then seen
  // at the next look.
  const std::string stamp = StampOf(path);
  if (stamp.empty() || (stamp == file_read.stamp && !anew)) return;
  file_read.stamp = stamp;
  file_read.entries.clear();
  ++reads_;
  const Expected<std::string> yaml = ReadWholeFile(path, kMaxYamlBytes);
  std::string text = yaml.ok() ? yaml.value() : "";
  if (text != file_read.text) ++generation_;
  file_read.text = std::move(text);
  const auto read = &file_read == &models_ ? registry::StockOfModels
                                           : registry::StockOfDataSets;
  auto entries = yaml.ok() ? read(yaml.value()) : yaml.fault();
  if (!entries.ok()) {
    Log(LogLevel::kError, "registry_unreadable",
        {{"registry", registry_},
         {"cause", entries.fault().cause},
         {"fix", entries.fault().fix}});
    return;
  }
  file_read.entries = std::move(entries).value();
  const auto most =
      static_cast<std::size_t>(proto::MaxItems<v1::Stock>("models"));
  if (file_read.entries.size() <= most) return;
  Log(LogLevel::kWarning, "registry_cut",
      {{"file", path}, {"most", absl::StrCat(most)}});
  file_read.entries.resize(most);
}

void StockReader::List(RegistryFile& file_read, Items* items,
                       std::string* lacking) {
  const int root = open(registry_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  std::map<std::string, bool> answers;
  for (const registry::StockEntry& entry : file_read.entries) {
    Sight sight = Sight::kThere;
    std::string first;  // of the files that are not there, and why
    const auto note = [&](Sight one, const std::string& what) {
      if (one != Sight::kThere && first.empty()) first = what;
      // One absent file decides, even if nothing is known about others.
      if (one != Sight::kThere && sight != Sight::kAbsent) sight = one;
    };
    for (const registry::StockFile& file : entry.files) {
      note(See(root, registry_, file.path), file.path);
    }
    for (const registry::StockFile& file : entry.files) {
      if (sight != Sight::kThere) break;
      const auto sum = sums_.Judge(file);
      note(SightOf(sum), absl::StrCat(file.path, sum == Answer::kLater
                                                     ? " is not summed up yet"
                                                     : " has another sum"));
    }
    const auto last = file_read.answers.find(entry.id);
    const bool was_there = last == file_read.answers.end() || last->second;
    const bool is_there =
        sight == Sight::kThere || (sight == Sight::kUnknown && was_there);
    answers[entry.id] = is_there;
    if (is_there) {
      v1::StockItem* const item = items->Add();
      item->set_id(entry.id);
      item->set_sha256(entry.sha256);
    } else if (lacking->size() < kMostLacking) {
      absl::StrAppend(lacking, lacking->empty() ? "" : ", ", entry.id, ": ",
                      first);
    }
  }
  file_read.answers = std::move(answers);
  if (root >= 0) close(root);
}

void StockReader::AddBounds(Items& models) {
  std::map<std::string, std::string> stamps;  // by id
  for (const registry::StockEntry& entry : models_.entries) {
    stamps[entry.id] = models_.stamp + " " +
                       StampOf(registry_ + "/" + entry.folder + "/config.json");
  }
  // Read once, and only where a model is new or has changed.
  std::optional<absl::StatusOr<registry::Registry>> registry;
  for (v1::StockItem& item : models) {
    ReadBounds& read = bounds_[item.id()];
    if (read.stamp != stamps[item.id()]) {
      read.stamp = stamps[item.id()];
      if (!registry.has_value()) registry = registry::ReadRegistry(registry_);
      read.bounds =
          registry->ok() ? BoundsOf(**registry, item.id()) : std::nullopt;
    }
    if (read.bounds.has_value()) *item.mutable_bounds() = *read.bounds;
  }
}

bool HasStockFor(const v1::Stock& stock, const v1::TrialSpec& spec) {
  const auto& also = spec.training().also_evaluate();
  return Fits(stock.models(), spec.model().id(), spec.model().sha256()) &&
         Fits(stock.data_sets(), spec.data().id(), spec.data().sha256()) &&
         std::all_of(spec.tasks().begin(), spec.tasks().end(),
                     [&stock](const v1::TaskSpec& task) {
                       return Fits(stock.data_sets(), task.data().id(),
                                   task.data().sha256());
                     }) &&
         std::all_of(also.begin(), also.end(), [&stock](const auto& id) {
           return Fits(stock.data_sets(), id, "");
         });
}

namespace {

using RealTime = std::chrono::steady_clock;  // CondVar waits by it

// A disk that is only slow has answered by then.
constexpr Duration kStockWatchEndPatience = std::chrono::seconds(2);

}  // namespace

struct StockWatch::State {
  Mutex mutex;
  CondVar changed;
  std::function<void()> looked ABSL_GUARDED_BY(mutex);
  StockLook last ABSL_GUARDED_BY(mutex);
  std::int64_t asked ABSL_GUARDED_BY(mutex) = 1;
  std::int64_t begun ABSL_GUARDED_BY(mutex) = 0;
  std::int64_t over ABSL_GUARDED_BY(mutex) = 0;
  bool is_unwanted ABSL_GUARDED_BY(mutex) = false;
  bool has_ended ABSL_GUARDED_BY(mutex) = false;  // the thread
};

StockWatch::StockWatch(LookAtStock look, Duration interval,
                       std::function<void()> looked)
    : state_(std::make_shared<State>()) {
  const MutexLock lock(&state_->mutex);
  state_->looked = std::move(looked);
  thread_ = std::thread([state = state_, look = std::move(look), interval] {
    Loop(*state, look, interval);
  });
}

StockWatch::~StockWatch() {
  bool has_ended = false;
  {
    const MutexLock lock(&state_->mutex);
    state_->is_unwanted = true;
    state_->looked = nullptr;
    state_->changed.SignalAll();
    const auto until = RealTime::now() + kStockWatchEndPatience;
    while (!state_->has_ended &&
           state_->changed.WaitUntil(&state_->mutex, until)) {
    }
    has_ended = state_->has_ended;
  }
  has_ended ? thread_.join() : thread_.detach();
}

void StockWatch::Loop(State& state, const LookAtStock& look,
                      Duration interval) {
  auto next = RealTime::now();
  while (true) {
    bool anew = false;
    {
      const MutexLock lock(&state.mutex);
      while (!state.is_unwanted && state.asked <= state.begun &&
             state.changed.WaitUntil(&state.mutex, next)) {
      }
      if (state.is_unwanted) break;
      anew = state.asked > state.begun;
      ++state.begun;
    }
    StockLook seen = look(anew);
    next = RealTime::now() + interval;
    const MutexLock lock(&state.mutex);
    state.last = std::move(seen);
    state.over = state.begun;
    if (state.looked) state.looked();
    state.changed.SignalAll();
  }
  const MutexLock lock(&state.mutex);
  state.has_ended = true;
  state.changed.SignalAll();
}

std::int64_t StockWatch::Ask() {
  const MutexLock lock(&state_->mutex);
  state_->asked = state_->begun + 1;
  state_->changed.SignalAll();
  return state_->asked;
}

bool StockWatch::Await(std::int64_t number, Duration most) const {
  const auto until = RealTime::now() + most;
  const MutexLock lock(&state_->mutex);
  while (state_->over < number &&
         state_->changed.WaitUntil(&state_->mutex, until)) {
  }
  return state_->over >= number;
}

StockLook StockWatch::last() const {
  const MutexLock lock(&state_->mutex);
  return state_->last;
}

}  // namespace frostline::agent
