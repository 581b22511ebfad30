// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/text/normalizer.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "base/plain/text.h"
#include "worker/trainer/text/unicode.h"

namespace frostline::trainer {

void NormalizedText::Assign(std::string_view text, std::uint32_t base) {
  if (IsAscii(text)) return AssignIdentity(text, base);
  Clear(base);
  bytes_ = text;
  spans_.reserve(text.size());
  std::uint32_t next = base;
  for (const char byte : text) {
    if (!IsContinuation(byte)) ++next;
    spans_.push_back({next - 1, next});
  }
}

void NormalizedText::AppendCopy(const NormalizedText& from, ByteRange range) {
  bytes_.append(from.at(range));
  if (!from.identity_) {
    const auto begin = from.spans_.begin();
    spans_.insert(spans_.end(),
                  begin + static_cast<std::ptrdiff_t>(range.begin),
                  begin + static_cast<std::ptrdiff_t>(range.end));
    return;
  }
  for (std::size_t i = range.begin; i < range.end; ++i) {
    spans_.push_back(from.SpanAt(i));
  }
}

namespace {

// The steps for any code point. Accents wait until the next base character,
// because canonical order may move them, and their spans do not move along:
// spans are dealt out again in the order in which they came.
class Pipeline {
 public:
  Pipeline(const BertNormalizerOptions& options, NormalizedText& out)
      : options_(options), out_(out) {}

  void Take(char32_t c, Span span) {
    if (options_.clean_text) {
      if (Has(c, kDropped)) return;
      if (Has(c, kWhiteSpace)) c = U' ';
    }
    if (options_.handle_chinese_chars && IsCjk(c)) {
      Decomposed(U' ', span);
      Decomposed(c, span);
      Decomposed(U' ', span);
      return;
    }
    Decomposed(c, span);
  }

  void Finish() {
    if (waiting_.empty()) return;
    std::stable_sort(
        waiting_.begin(), waiting_.end(),
        [](const Mark& a, const Mark& b) { return a.order < b.order; });
    std::size_t next = 0;
    for (const Mark& mark : waiting_) {
      if (mark.leads) last_ = spans_[next++];
      if (!Has(mark.c, kMark)) Lowered(mark.c, last_);
    }
    waiting_.clear();
    spans_.clear();
  }

 private:
  struct Mark {
    char32_t c;
    std::uint8_t order;
    bool leads;  // the first of what its code point became
  };

  void Decomposed(char32_t c, Span span) {
    if (!options_.strip_accents) return Lowered(c, span);
    const CodePoints parts = Decompose(c);
    for (std::size_t i = 0; i < parts.count; ++i) {
      const std::uint8_t order = CombiningClass(parts.at[i]);
      if (order != 0) {
        waiting_.push_back({parts.at[i], order, i == 0});
        if (i == 0) spans_.push_back(span);
        continue;
      }
      Finish();
      last_ = span;
      if (!Has(parts.at[i], kMark)) Lowered(parts.at[i], span);
    }
  }

  void Lowered(char32_t c, Span span) {
    if (!options_.lowercase) return out_.Append(c, span);
    const CodePoints lower = ToLower(c);
    for (std::size_t i = 0; i < lower.count; ++i)
      out_.Append(lower.at[i], span);
  }

  const BertNormalizerOptions& options_;
  NormalizedText& out_;
  std::vector<Mark> waiting_;
  std::vector<Span> spans_;  // of those in waiting_ that lead
  Span last_;
};

}  // namespace

BertNormalizer::BertNormalizer(const BertNormalizerOptions& options)
    : options_(options) {
  for (std::size_t i = 0; i < ascii_.size(); ++i) {
    auto c = static_cast<char32_t>(i);
    if (options_.clean_text && Has(c, kWhiteSpace) && !Has(c, kDropped)) {
      c = U' ';
    }
    if (options_.lowercase) c = ToLower(c).at[0];
    ascii_[i] = static_cast<char>(c);
    if (options_.clean_text && Has(c, kDropped)) ascii_[i] = 0;
  }
}

bool BertNormalizer::RunAscii(std::string_view raw, std::uint32_t base,
                              NormalizedText& out) const {
  out.AssignIdentity(raw, base);
  std::string& bytes = out.mutable_bytes();
  bool dropped = false;
  for (char& byte : bytes) {
    byte = ascii_[static_cast<unsigned char>(byte)];
    dropped |= byte == 0;
  }
  return !dropped;
}

void BertNormalizer::Run(std::string_view raw, std::uint32_t base,
                         NormalizedText& out) const {
  if (IsAscii(raw) && RunAscii(raw, base, out)) return;
  out.Clear(base);
  Pipeline pipeline(options_, out);
  std::uint32_t next = base;
  for (std::size_t i = 0; i < raw.size(); ++next) {
    const CodePoint point = DecodeAt(raw, i);
    pipeline.Take(point.value, {next, next + 1});
    i += point.bytes;
  }
  pipeline.Finish();
}

namespace {

// Holds a base character and the accents behind it until the next one comes.
// Spans do not move with accents that change places: they are dealt out in the
// order in which they came, and what two code points became has the first's.
class Composer {
 public:
  explicit Composer(NormalizedText& out) : out_(out) {}

  void Take(char32_t c, Span span) {
    spans_.push_back(span);
    const CodePoints parts = Decompose(c);
    for (std::size_t i = 0; i < parts.count; ++i) {
      Part part = {parts.at[i], CombiningClass(parts.at[i]), i == 0 ? 0 : 1};
      if (part.order == 0)
        Settle(part, i == 0);
      else
        held_.push_back(part);
    }
  }

  void Finish() {
    Compose();
    Flush();
  }

 private:
  struct Part {
    char32_t c;
    std::uint8_t order;
    int more;  // code points that it has more than what it came from
  };

  bool HasBase() const { return !held_.empty() && held_.front().order == 0; }

  // A base character may still join the one before it (Hangul).
  void Settle(const Part& base, bool own_span) {
    Compose();
    if (HasBase() && held_.size() == 1) {
      const char32_t both = frostline::trainer::Compose(held_[0].c, base.c);
      if (both != 0) {
        held_[0].c = both;
        held_[0].more += base.more - 1;
        return;
      }
    }
    std::vector<Span> own;
    if (own_span) {
      own.push_back(spans_.back());
      spans_.pop_back();
    }
    Flush();
    spans_ = own;
    held_ = {base};
  }

  void Compose() {
    const std::size_t first = HasBase() ? 1 : 0;
    std::stable_sort(
        held_.begin() + static_cast<std::ptrdiff_t>(first), held_.end(),
        [](const Part& a, const Part& b) { return a.order < b.order; });
    if (first == 0) return;
    std::size_t kept = 1;
    for (std::size_t i = 1; i < held_.size(); ++i) {
      const bool hidden = kept > 1 && held_[kept - 1].order == held_[i].order;
      const char32_t both =
          hidden ? 0 : frostline::trainer::Compose(held_[0].c, held_[i].c);
      if (both == 0) {
        held_[kept++] = held_[i];
        continue;
      }
      held_[0].c = both;
      held_[0].more += held_[i].more - 1;
    }
    held_.resize(kept);
  }

  void Flush() {
    std::size_t next = 0;
    for (const Part& part : held_) {
      if (part.more <= 0 && next < spans_.size()) {
        out_.Append(part.c, spans_[next]);
        next += 1 + static_cast<std::size_t>(-part.more);
        last_ = spans_[std::min(next, spans_.size()) - 1];
      } else {
        out_.Append(part.c, last_);
      }
    }
    held_.clear();
    spans_.clear();
  }

  NormalizedText& out_;
  std::vector<Part> held_;
  std::vector<Span> spans_;  // of the code points that held_ came from
  Span last_ = {};
};

bool IsLineOrTab(char32_t c) { return c == U'\n' || c == U'\r' || c == U'\t'; }

}  // namespace

void NfcNormalizer::Run(std::string_view raw, std::uint32_t base,
                        NormalizedText& out) const {
  if (!options_.collapse_white_space && IsAscii(raw)) {
    out.AssignIdentity(raw, base);
    return;
  }
  out.Clear(base);
  Composer composer(out);
  std::size_t blanks = 0;  // that wait
  char32_t blank = 0;
  Span span = {};
  const auto pass_blanks = [&] {
    if (blanks == 0) return;
    const bool one = blanks == 1 && !IsLineOrTab(blank);
    composer.Take(one ? blank : U' ', span);
    blanks = 0;
  };
  std::uint32_t next = base;
  for (std::size_t i = 0; i < raw.size(); ++next) {
    const CodePoint point = DecodeAt(raw, i);
    i += point.bytes;
    const Span here = {next, next + 1};
    if (options_.collapse_white_space && Has(point.value, kWhiteSpace)) {
      ++blanks;
      blank = point.value;
      span = here;
      continue;
    }
    pass_blanks();
    composer.Take(point.value, here);
  }
  if (!options_.collapse_white_space) pass_blanks();
  composer.Finish();
}

std::optional<std::string> DecodeBase64(std::string_view text) {
  static constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  if (text.size() % 4 != 0) return std::nullopt;
  std::size_t padding = 0;
  while (padding < 2 && text.ends_with('=')) {
    text.remove_suffix(1);
    ++padding;
  }
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3 + 3);
  std::uint32_t bits = 0;
  int held = 0;
  for (const char c : text) {
    const std::size_t digit = kDigits.find(c);
    if (digit == std::string_view::npos) return std::nullopt;
    bits = (bits << 6 | static_cast<std::uint32_t>(digit)) & 0xFFFF;
    held += 6;
    if (held < 8) continue;
    held -= 8;
    bytes.push_back(static_cast<char>(bits >> held & 0xFF));
  }
  if ((bits & ((1U << held) - 1)) != 0) return std::nullopt;
  return bytes;
}

std::size_t GraphemeEnd(std::string_view text, std::size_t begin) {
  CodePoint point = DecodeAt(text, begin);
  char32_t before = point.value;
  std::size_t at = begin + point.bytes;
  if (before == U'\r' && at < text.size() && text[at] == '\n') return at + 1;
  while (at < text.size() && !Has(before, kBreaks)) {
    point = DecodeAt(text, at);
    const bool same = Has(point.value, kJoins) ||
                      (Has(before, kPrepends) && !Has(point.value, kBreaks));
    if (!same) break;
    before = point.value;
    at += point.bytes;
  }
  return at;
}

namespace {

// A unit of the Darts double array: label in the low byte (bit 31 is set on
// values), offset in the upper bits, shifted by 8 more when bit 9 is set.
bool HasLeaf(std::uint32_t unit) { return (unit >> 8 & 1) != 0; }
std::uint32_t LabelOf(std::uint32_t unit) { return unit & 0x800000FF; }
std::uint32_t OffsetOf(std::uint32_t unit) {
  return (unit >> 10) << ((unit & 0x200) >> 6);
}

Fault BrokenCharsmap(const char* what) {
  return {FaultKind::kSyntax,
          std::string("the precompiled_charsmap of the normalizer ") + what,
          "export tokenizer.json again from the original model"};
}

}  // namespace

Expected<Charsmap> Charsmap::Parse(std::string_view base64) {
  const std::optional<std::string> blob = DecodeBase64(base64);
  if (!blob) return BrokenCharsmap("is not base64");
  std::uint32_t bytes = 0;
  if (blob->size() < sizeof bytes) return BrokenCharsmap("is too short");
  std::memcpy(&bytes, blob->data(), sizeof bytes);  // little endian, as we are
  if (bytes == 0 || bytes % 4 != 0 || bytes > blob->size() - sizeof bytes) {
    return BrokenCharsmap("has an array of a wrong length");
  }
  Charsmap map;
  map.units_.resize(bytes / 4);
  std::memcpy(map.units_.data(), blob->data() + sizeof bytes, bytes);
  map.replacements_ = blob->substr(sizeof bytes + bytes);
  if (!IsValidUtf8(map.replacements_)) return BrokenCharsmap("is not UTF-8");
  for (std::size_t i = 1; i < map.ruled_.size(); ++i) {
    const std::uint64_t at = std::uint64_t{OffsetOf(map.units_[0])} ^ i;
    if (at >= map.units_.size() || LabelOf(map.units_[at]) != i) continue;
    // CR LF is the one cluster of two ASCII code points.
    map.ruled_[i] = HasLeaf(map.units_[at]) || i == '\r';
  }
  return map;
}

std::optional<std::string_view> Charsmap::Rule(std::string_view chunk) const {
  std::uint64_t at = OffsetOf(units_[0]);
  for (const char byte : chunk) {
    const auto label = static_cast<unsigned char>(byte);
    at ^= label;
    if (label == 0 || at >= units_.size() || LabelOf(units_[at]) != label) {
      return std::nullopt;
    }
    const std::uint32_t unit = units_[at];
    at ^= OffsetOf(unit);
    if (!HasLeaf(unit)) continue;
    if (at >= units_.size()) return std::nullopt;
    const std::size_t begin = units_[at] & 0x7FFFFFFF;
    if (begin >= replacements_.size() || IsContinuation(replacements_[begin])) {
      return std::nullopt;
    }
    const std::size_t end = replacements_.find('\0', begin);
    return std::string_view(replacements_).substr(begin, end - begin);
  }
  return std::nullopt;
}

// Applying the rules of a map to a text.

namespace {

// Only a longer cluster is not looked up whole.
constexpr std::size_t kMaxWholeCluster = 5;

// One code point of the result and how it moves on in the original: above 0
// it is one more for the code point before, else it takes the next one and
// swallows -change further ones.
struct Change {
  char32_t c;
  std::int64_t change;
};

void AppendReplacement(std::string_view from, std::string_view to,
                       std::vector<Change>& changes) {
  const auto before = static_cast<std::int64_t>(CountCodePoints(from));
  const auto after = static_cast<std::int64_t>(CountCodePoints(to));
  std::int64_t made = 0;
  for (std::size_t i = 0; i < to.size(); ++made) {
    const CodePoint point = DecodeAt(to, i);
    changes.push_back({point.value, made < before ? 0 : 1});
    i += point.bytes;
  }
  // With nothing at all before it, a removal goes unrecorded in the reference
  // and shifts every span after it; published offsets have it so.
  if (after < before && !changes.empty()) {
    changes.back().change += after - before;
  }
}

void ApplyCharsmap(const std::vector<Change>& changes, std::uint32_t base,
                   std::uint32_t count, NormalizedText& out) {
  std::int64_t next = 0;
  const std::int64_t last = std::int64_t{count} - 1;
  const auto span = [&](std::int64_t i) -> Span {
    const auto at =
        base + static_cast<std::uint32_t>(std::clamp<std::int64_t>(i, 0, last));
    return {at, at + 1};
  };
  for (const Change& change : changes) {
    if (change.change > 0) {
      out.Append(change.c, next == 0 ? Span{base, base} : span(next - 1));
      continue;
    }
    out.Append(change.c, span(next));
    next += 1 - change.change;
  }
}

}  // namespace

void Charsmap::Run(std::string_view raw, std::uint32_t base,
                   NormalizedText& out) const {
  const auto plain = [this](char byte) {
    const auto c = static_cast<unsigned char>(byte);
    return c < 128 && !ruled_[c];
  };
  if (std::all_of(raw.begin(), raw.end(), plain)) {
    return out.AssignIdentity(raw, base);
  }
  std::vector<Change> changes;
  changes.reserve(raw.size());
  bool changed = false;
  const auto replace = [&](std::string_view from) {
    const std::optional<std::string_view> to = Rule(from);
    if (!to) return false;
    AppendReplacement(from, *to, changes);
    changed = true;
    return true;
  };
  for (std::size_t i = 0; i < raw.size();) {
    if (plain(raw[i]) && i + 1 < raw.size() && plain(raw[i + 1])) {
      changes.push_back({static_cast<unsigned char>(raw[i++]), 0});
      continue;
    }
    const std::size_t end = GraphemeEnd(raw, i);
    const std::string_view cluster = raw.substr(i, end - i);
    if (cluster.size() <= kMaxWholeCluster && replace(cluster)) {
      i = end;
      continue;
    }
    while (i < end) {
      const CodePoint point = DecodeAt(raw, i);
      if (!replace(raw.substr(i, point.bytes))) {
        changes.push_back({point.value, 0});
      }
      i += point.bytes;
    }
  }
  if (!changed) return out.Assign(raw, base);
  out.Clear(base);
  ApplyCharsmap(changes, base, static_cast<std::uint32_t>(CountCodePoints(raw)),
                out);
}

PreTokenizer::PreTokenizer() {
  for (std::size_t i = 0; i < ascii_.size(); ++i) {
    ascii_[i] = FlagsOf(static_cast<char32_t>(i));
  }
}

std::uint16_t PreTokenizer::FlagsAt(std::string_view text, std::size_t at,
                                    std::size_t& bytes) const {
  const auto first = static_cast<unsigned char>(text[at]);
  if (first < 128) {
    bytes = 1;
    return ascii_[first];
  }
  const CodePoint point = DecodeAt(text, at);
  bytes = point.bytes;
  return FlagsOf(point.value);
}

const NormalizedText& BertSplit::Split(const NormalizedText& text,
                                       ByteRange range, NormalizedText&,
                                       std::vector<ByteRange>& words) const {
  const std::string_view bytes = text.bytes();
  std::size_t begin = range.begin;
  const auto end_word = [&](std::size_t at) {
    if (begin < at) words.push_back({begin, at});
  };
  for (std::size_t i = range.begin; i < range.end;) {
    std::size_t width = 0;
    const std::uint16_t flags = FlagsAt(bytes, i, width);
    const std::size_t next = i + width;
    if ((flags & (kWhiteSpace | kPunctuation)) != 0) {
      end_word(i);
      if ((flags & kWhiteSpace) == 0) words.push_back({i, next});
      begin = next;
    }
    i = next;
  }
  end_word(range.end);
  return text;
}

const NormalizedText& ByteLevelSplit::Split(
    const NormalizedText& text, ByteRange range, NormalizedText& rewritten,
    std::vector<ByteRange>& words) const {
  const NormalizedText* source = &text;
  if (add_prefix_space_ && range.begin < range.end &&
      text.bytes()[range.begin] != ' ') {
    rewritten.Clear(text.base());
    rewritten.AppendAll(" ", text.SpanAt(range.begin));
    rewritten.AppendCopy(text, range);
    source = &rewritten;
    range = {0, rewritten.bytes().size()};
  }
  const std::string_view bytes = source->bytes();
  for (std::size_t i = range.begin; i < range.end;) {
    const std::size_t part_end =
        single_digits_ ? PartEnd(bytes, i, range.end) : range.end;
    const std::string_view part = bytes.substr(0, part_end);
    while (i < part_end) {
      const std::size_t end = WordEnd(part, i);
      words.push_back({i, end});
      i = end;
    }
  }
  return *source;
}

// One number, or all up to the next one.
std::size_t ByteLevelSplit::PartEnd(std::string_view text, std::size_t begin,
                                    std::size_t end) const {
  std::size_t width = 0;
  std::size_t at = begin;
  while (at < end && (FlagsAt(text, at, width) & kNumber) == 0) at += width;
  return at == begin ? at + width : at;
}

std::size_t ByteLevelSplit::WordEnd(std::string_view text,
                                    std::size_t begin) const {
  if (text[begin] == '\'') {
    for (const std::string_view ending :
         {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"}) {
      if (text.substr(begin, ending.size()) == ending) {
        return begin + ending.size();
      }
    }
  }
  std::size_t width = 0;
  const std::size_t word = begin + (text[begin] == ' ' ? 1 : 0);
  if (word < text.size() && (FlagsAt(text, word, width) & kWhiteSpace) == 0) {
    return RunEnd(text, word);
  }
  return BlanksEnd(text, begin);
}

// Letters, or numbers, or what is neither, as far as they go.
std::size_t ByteLevelSplit::RunEnd(std::string_view text,
                                   std::size_t at) const {
  constexpr std::uint16_t kKinds = kLetter | kNumber | kWhiteSpace;
  std::size_t width = 0;
  const auto kind = FlagsAt(text, at, width) & kKinds;
  do {
    at += width;
  } while (at < text.size() && (FlagsAt(text, at, width) & kKinds) == kind);
  return at;
}

std::size_t PreTokenizer::BlanksEnd(std::string_view text,
                                    std::size_t begin) const {
  std::size_t last = begin;  // where the last blank of the run begins
  std::size_t at = begin;
  std::size_t width = 0;
  while (at < text.size() && (FlagsAt(text, at, width) & kWhiteSpace) != 0) {
    last = at;
    at += width;
  }
  return at == text.size() || last == begin ? at : last;
}

const NormalizedText& LlamaSplit::Split(const NormalizedText& text,
                                        ByteRange range, NormalizedText&,
                                        std::vector<ByteRange>& words) const {
  const std::string_view bytes = text.bytes().substr(0, range.end);
  for (std::size_t i = range.begin; i < range.end;) {
    const std::size_t end = WordEnd(bytes, i);
    words.push_back({i, end});
    i = end;
  }
  return text;
}

namespace {

constexpr std::uint16_t kWordKinds = kLetter | kNumber | kWhiteSpace;

bool EndsLine(char c) { return c == '\r' || c == '\n'; }

// The end of a contraction that begins here, or `begin`. A long s is an s of
// another case.
std::size_t ContractionEnd(std::string_view text, std::size_t begin) {
  if (text[begin] != '\'') return begin;
  const std::string_view rest = text.substr(begin + 1);
  const auto lower = [&](std::size_t at) {
    const char c = at < rest.size() ? rest[at] : '\0';
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  };
  if (rest.starts_with("\xC5\xBF")) return begin + 3;
  for (const std::string_view ending : {"s", "t", "re", "ve", "m", "ll", "d"}) {
    const bool fits =
        lower(0) == ending[0] && (ending.size() == 1 || lower(1) == ending[1]);
    if (fits) return begin + 1 + ending.size();
  }
  return begin;
}

}  // namespace

// In the order of the alternatives of the published expressions, of which the
// first that fits counts.
std::size_t LlamaSplit::WordEnd(std::string_view text,
                                std::size_t begin) const {
  const std::size_t contraction = ContractionEnd(text, begin);
  if (contraction > begin) return contraction;
  constexpr std::size_t kAny = std::string_view::npos;
  std::size_t width = 0;
  const std::uint16_t kind = FlagsAt(text, begin, width) & kWordKinds;
  if ((kind & kLetter) != 0) return RunEnd(text, begin, kLetter, kAny);
  if ((kind & kNumber) == 0 && !EndsLine(text[begin])) {
    const std::size_t end = RunEnd(text, begin + width, kLetter, kAny);
    if (end > begin + width) return end;
  }
  if ((kind & kNumber) != 0) {
    return RunEnd(text, begin, kNumber, static_cast<std::size_t>(most_digits_));
  }
  const std::size_t signs = begin + (text[begin] == ' ' ? 1 : 0);
  const std::size_t signs_end = SignsEnd(text, signs);
  if (signs_end > signs) return signs_end;
  return WhiteSpaceEnd(text, begin);
}

std::size_t LlamaSplit::RunEnd(std::string_view text, std::size_t at,
                               std::uint16_t kinds, std::size_t most) const {
  std::size_t width = 0;
  for (std::size_t count = 0; count < most && at < text.size() &&
                              (FlagsAt(text, at, width) & kinds) != 0;
       ++count) {
    at += width;
  }
  return at;
}

// What is neither letter, number nor white space, and ends of lines after it.
std::size_t LlamaSplit::SignsEnd(std::string_view text, std::size_t at) const {
  const std::size_t begin = at;
  std::size_t width = 0;
  while (at < text.size() && (FlagsAt(text, at, width) & kWordKinds) == 0) {
    at += width;
  }
  if (at == begin) return begin;
  while (at < text.size() && EndsLine(text[at])) ++at;
  return at;
}

std::size_t LlamaSplit::WhiteSpaceEnd(std::string_view text,
                                      std::size_t begin) const {
  const std::size_t end =
      RunEnd(text, begin, kWhiteSpace, std::string_view::npos);
  for (std::size_t at = end; at > begin; --at) {
    if (EndsLine(text[at - 1])) return at;
  }
  return BlanksEnd(text, begin);
}

const NormalizedText& MetaspaceSplit::Split(
    const NormalizedText& text, ByteRange range, NormalizedText& rewritten,
    std::vector<ByteRange>& words) const {
  static constexpr std::string_view kSign = "\xE2\x96\x81";
  const std::string_view bytes = text.bytes().substr(0, range.end);
  rewritten.Clear(text.base());
  std::size_t begin = 0;  // of the word, in rewritten
  bool inside = false;    // of what gets one sign in front
  std::size_t copied = range.begin;
  const auto end_word = [&](std::size_t at) {
    rewritten.AppendCopy(text, {copied, at});
    copied = at;
    const std::size_t end = rewritten.bytes().size();
    if (begin < end) words.push_back({begin, end});
    begin = end;
  };
  for (std::size_t i = range.begin; i < range.end;) {
    std::size_t width = 0;
    const std::uint16_t flags = FlagsAt(bytes, i, width);
    if (split_white_space_ && (flags & kWhiteSpace) != 0) {
      end_word(i);
      copied = i + width;
      inside = false;
    } else if (bytes[i] == ' ') {
      end_word(i);
      rewritten.AppendAll(kSign, text.SpanAt(i));
      copied = i + width;
      inside = true;
    } else if (bytes.substr(i, kSign.size()) == kSign) {
      end_word(i);
      inside = true;
    } else if (!inside) {
      rewritten.AppendAll(kSign, text.SpanAt(i));
      inside = true;
    }
    i += width;
  }
  end_word(range.end);
  return rewritten;
}

}  // namespace frostline::trainer
