// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/probe_port.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/rpc/listening_socket.h"

namespace frostline::server {
namespace {

// The first bytes of an HTTP/2 client (RFC 9113, 3.4). No HTTP/1 method in use
// begins like this: PRI is reserved for it.
constexpr std::string_view kPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
constexpr std::size_t kToldApart = 3;
constexpr std::string_view kBlanks = " \t";

// The method, the target and the version of a request's line.
struct RequestLine {
  std::string_view method;
  std::string_view target;
  std::string_view version;
};

RequestLine Split(std::string_view line) {
  RequestLine parts;
  const std::size_t first = line.find(' ');
  const std::size_t last = line.rfind(' ');
  if (first == std::string_view::npos || first == last) return parts;
  parts.method = line.substr(0, first);
  parts.target = line.substr(first + 1, last - first - 1);
  parts.version = line.substr(last + 1);
  return parts;
}

bool IsToken(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '-';
  });
}

std::string AnswerOf(const char* status, const char* more,
                     const std::string& body, const char* type) {
  return absl::StrCat(
      "HTTP/1.1 ", status, "\r\n", more, "Content-Type: ", type,
      "\r\nContent-Length: ", body.size(),
      "\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n", body);
}

std::string Refusal(const char* status, const char* more = "") {
  return AnswerOf(status, more, absl::StrCat(status, "\n"),
                  "text/plain; charset=utf-8");
}

}  // namespace

Speech SpeechOf(std::string_view bytes) {
  const std::string_view begin = kPreface.substr(0, kToldApart);
  const std::size_t seen = std::min(bytes.size(), begin.size());
  if (bytes.substr(0, seen) != begin.substr(0, seen)) return Speech::kHttp1;
  return seen < begin.size() ? Speech::kUnclear : Speech::kHttp2;
}

ScrapeVerdict JudgeScrape(std::string_view head) {
  const std::size_t end = head.find("\r\n\r\n");
  if (std::min(end, head.size()) > kMaxHeadBytes) {
    return ScrapeVerdict::kTooLarge;
  }
  if (end == std::string_view::npos) {
    return head.size() < kMaxHeadBytes ? ScrapeVerdict::kIncomplete
                                       : ScrapeVerdict::kTooLarge;
  }
  const RequestLine line = Split(head.substr(0, head.find("\r\n")));
  const bool is_http1 =
      line.version == "HTTP/1.1" || line.version == "HTTP/1.0";
  const bool has_form =
      IsToken(line.method) && !line.target.empty() &&
      line.target.find_first_of(kBlanks) == std::string_view::npos;
  if (!is_http1 || !has_form) return ScrapeVerdict::kInvalid;
  if (line.method != "GET") return ScrapeVerdict::kMethodNotAllowed;
  const std::string_view path = line.target.substr(0, line.target.find('?'));
  return path == "/metrics" ? ScrapeVerdict::kMetrics
                            : ScrapeVerdict::kNotFound;
}

std::string ScrapeAnswer(ScrapeVerdict verdict, const std::string* page) {
  switch (verdict) {
    case ScrapeVerdict::kMetrics:
      if (page == nullptr) return Refusal("503 Service Unavailable");
      return AnswerOf("200 OK", "", *page,
                      "text/plain; version=0.0.4; charset=utf-8");
    case ScrapeVerdict::kNotFound:
      return Refusal("404 Not Found");
    case ScrapeVerdict::kMethodNotAllowed:
      return Refusal("405 Method Not Allowed", "Allow: GET\r\n");
    case ScrapeVerdict::kTooLarge:
      return Refusal("431 Request Header Fields Too Large");
    case ScrapeVerdict::kIncomplete:
    case ScrapeVerdict::kInvalid:
      break;
  }
  return Refusal("400 Bad Request");
}

namespace {

// The first bytes may come one by one. They stay unread, so poll() would return
// at once; this is the pause instead.
constexpr Duration kLookAgain = std::chrono::milliseconds(20);
// The time that a peer has to leave. Closing at once with unread bytes would
// take our answer back.
constexpr Duration kToLeave = std::chrono::seconds(1);
constexpr Duration kLongestNap = std::chrono::seconds(60);

enum class Stage { kListening, kReading, kAwaiting, kAnswering, kLeaving };

struct Guest {
  int fd = -1;
  Stage stage = Stage::kListening;
  SteadyTime until{};       // it is closed then
  SteadyTime look_again{};  // it is not looked at before
  std::string head = {};
  PageText answer = {};
  std::size_t sent = 0;
};

short EventsOf(const Guest& guest) {
  switch (guest.stage) {
    case Stage::kAwaiting:
      return 0;
    case Stage::kAnswering:
      return POLLOUT;
    case Stage::kListening:
    case Stage::kReading:
    case Stage::kLeaving:
      break;
  }
  return POLLIN;
}

}  // namespace

// What the thread does. All but Receive(), Deliver() and Stop() runs on it.
class ProbePort::Rounds : public std::enable_shared_from_this<Rounds> {
 public:
  Rounds(PageMaker& scribe, const Clock& clock, const ProbePortLimits& limits)
      : page_maker_(scribe),
        clock_(clock),
        limits_(limits),
        wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}
  ~Rounds() { close(wake_); }
  Rounds(const Rounds&) = delete;
  Rounds& operator=(const Rounds&) = delete;

  void Start(HandOn hand_on) {
    hand_on_ = std::move(hand_on);
    thread_ = std::thread([this] { Run(); });
  }

  void Stop() {
    {
      const MutexLock lock(&mutex_);
      stopping_ = true;
    }
    eventfd_write(wake_, 1);
    if (thread_.joinable()) thread_.join();
    const MutexLock lock(&mutex_);
    for (const int fd : std::exchange(came_, {})) CloseAtOnce(fd);
  }

  void Receive(int fd) {
    {
      const MutexLock lock(&mutex_);
      came_.push_back(fd);
    }
    eventfd_write(wake_, 1);
  }

  void Deliver(std::uint64_t guest, PageText page) {
    {
      const MutexLock lock(&mutex_);
      pages_.emplace_back(guest, std::move(page));
    }
    eventfd_write(wake_, 1);
  }

 private:
  using Guests = std::map<std::uint64_t, Guest>;  // in the order they came

  void Run() {
    while (TakeWhatCame()) {
      std::vector<pollfd> watched = {
          {.fd = wake_, .events = POLLIN, .revents = 0}};
      std::vector<std::uint64_t> whose;
      const SteadyTime now = clock_.Steady();
      for (const auto& [id, guest] : guests_) {
        if (guest.look_again > now) continue;
        watched.push_back(
            {.fd = guest.fd, .events = EventsOf(guest), .revents = 0});
        whose.push_back(id);
      }
      poll(watched.data(), watched.size(), TimeoutMs(now));
      eventfd_t wakes = 0;
      eventfd_read(wake_, &wakes);
      for (std::size_t i = 0; i < whose.size(); ++i) {
        if (watched[i + 1].revents != 0) Serve(whose[i]);
      }
      CloseLate();
    }
    for (const auto& [id, guest] : guests_) CloseAtOnce(guest.fd);
    guests_.clear();
  }

  // Returns false when the thread has to stop.
  bool TakeWhatCame() {
    std::vector<int> came;
    std::vector<std::pair<std::uint64_t, PageText>> pages;
    {
      const MutexLock lock(&mutex_);
      if (stopping_) return false;
      came.swap(came_);
      pages.swap(pages_);
    }
    for (const int fd : came) {
      if (guests_.size() >= limits_.most) MakeRoom();
      guests_[++last_] = {.fd = fd, .until = clock_.Steady() + limits_.to_ask};
    }
    for (const auto& [id, page] : pages) {
      const auto guest = guests_.find(id);
      if (guest != guests_.end()) Answer(guest->second, page);
    }
    return true;
  }

  // Closes a connection to make room: one that has not asked yet rather than
  // one that is being answered.
  void MakeRoom() {
    auto goes = std::find_if(guests_.begin(), guests_.end(), [](auto& entry) {
      return entry.second.stage <= Stage::kReading;
    });
    if (goes == guests_.end()) goes = guests_.begin();
    CloseAtOnce(goes->second.fd);
    guests_.erase(goes);
  }

  int TimeoutMs(SteadyTime now) const {
    Duration wait = kLongestNap;
    for (const auto& [id, guest] : guests_) {
      wait = std::min(wait, guest.until - now);
      if (guest.look_again > now) {
        wait = std::min(wait, guest.look_again - now);
      }
    }
    return static_cast<int>(std::max<Duration>(wait, Duration::zero()) /
                            std::chrono::milliseconds(1)) +
           1;
  }

  void CloseLate() {
    const SteadyTime now = clock_.Steady();
    std::erase_if(guests_, [now](const auto& entry) {
      if (entry.second.until > now) return false;
      CloseAtOnce(entry.second.fd);
      return true;
    });
  }

  void Leave(std::uint64_t id) {
    close(guests_.at(id).fd);
    guests_.erase(id);
  }

  void Serve(std::uint64_t id) {
    Guest& guest = guests_.at(id);
    switch (guest.stage) {
      case Stage::kListening:
        return Listen(id, guest);
      case Stage::kReading:
        return Read(id, guest);
      case Stage::kAwaiting:
        return Leave(id);  // it has hung up
      case Stage::kAnswering:
        return Write(id, guest);
      case Stage::kLeaving:
        return Discard(id, guest);
    }
  }

  void Listen(std::uint64_t id, Guest& guest) {
    std::array<char, 4> first{};
    const ssize_t n = recv(guest.fd, first.data(), first.size(), MSG_PEEK);
    if (n == 0 || (n < 0 && errno != EAGAIN)) return Leave(id);
    if (n < 0) return;
    switch (SpeechOf({first.data(), static_cast<std::size_t>(n)})) {
      case Speech::kUnclear:
        guest.look_again = clock_.Steady() + kLookAgain;
        return;
      case Speech::kHttp2: {
        const int fd = guest.fd;
        guests_.erase(id);
        return hand_on_(fd);
      }
      case Speech::kHttp1:
        guest.stage = Stage::kReading;
        return Read(id, guest);
    }
  }

  void Read(std::uint64_t id, Guest& guest) {
    std::array<char, 4096> bytes{};
    const ssize_t n = recv(guest.fd, bytes.data(), bytes.size(), 0);
    if (n == 0 || (n < 0 && errno != EAGAIN)) return Leave(id);
    if (n < 0) return;
    guest.head.append(bytes.data(), static_cast<std::size_t>(n));
    const ScrapeVerdict verdict = JudgeScrape(guest.head);
    if (verdict == ScrapeVerdict::kIncomplete) return;
    guest.head.clear();
    guest.until = clock_.Steady() + limits_.to_take;
    if (verdict != ScrapeVerdict::kMetrics) {
      guest.answer =
          std::make_shared<const std::string>(ScrapeAnswer(verdict, nullptr));
      guest.stage = Stage::kAnswering;
      return;
    }
    guest.stage = Stage::kAwaiting;
    page_maker_.Ask([self = shared_from_this(), id](const PageText& page) {
      self->Deliver(id, page);
    });
  }

  void Answer(Guest& guest, const PageText& page) {
    // All who get the same page get the same text.
    if (page == nullptr || page != answered_page_ || answer_ == nullptr) {
      answered_page_ = page;
      answer_ = std::make_shared<const std::string>(
          ScrapeAnswer(ScrapeVerdict::kMetrics, page.get()));
    }
    guest.answer = answer_;
    guest.stage = Stage::kAnswering;
  }

  void Write(std::uint64_t id, Guest& guest) {
    const std::string& answer = *guest.answer;
    const ssize_t n = send(guest.fd, answer.data() + guest.sent,
                           answer.size() - guest.sent, MSG_NOSIGNAL);
    if (n < 0 && errno != EAGAIN) return Leave(id);
    if (n > 0) guest.sent += static_cast<std::size_t>(n);
    if (guest.sent < answer.size()) return;
    shutdown(guest.fd, SHUT_WR);
    guest.answer.reset();
    guest.stage = Stage::kLeaving;
    guest.until = clock_.Steady() + kToLeave;
  }

  void Discard(std::uint64_t id, const Guest& guest) {
    std::array<char, 4096> bytes{};
    const ssize_t n = recv(guest.fd, bytes.data(), bytes.size(), 0);
    if (n == 0 || (n < 0 && errno != EAGAIN)) Leave(id);
  }

  PageMaker& page_maker_;
  const Clock& clock_;
  const ProbePortLimits limits_;
  const int wake_;  // written when there is something to take
  HandOn hand_on_;
  Guests guests_;
  std::uint64_t last_ = 0;
  PageText answered_page_;
  PageText answer_;  // to who gets that page
  Mutex mutex_;
  std::vector<int> came_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::pair<std::uint64_t, PageText>> pages_
      ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

ProbePort::ProbePort(PageMaker& scribe, const Clock& clock,
                     ProbePortLimits limits)
    : rounds_(std::make_shared<Rounds>(scribe, clock, limits)) {}

ProbePort::~ProbePort() { Stop(); }

void ProbePort::Start(HandOn hand_on) { rounds_->Start(std::move(hand_on)); }
void ProbePort::Receive(int fd) { rounds_->Receive(fd); }
void ProbePort::Stop() { rounds_->Stop(); }

}  // namespace frostline::server
