// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/text/template.h"

#include <algorithm>
#include <string>

namespace frostline::trainer {
namespace {

using Kind = TemplateItem::Kind;

template <typename T>
void AppendFirst(const std::vector<T>& from, std::size_t count,
                 std::vector<T>& to) {
  to.insert(to.end(), from.begin(),
            from.begin() + static_cast<std::ptrdiff_t>(count));
}

void AppendRun(const TokenRun& run, std::size_t count, std::int32_t type_id,
               Encoding& encoding) {
  AppendFirst(run.ids, count, encoding.ids);
  AppendFirst(run.words, count, encoding.word_ids);
  AppendFirst(run.spans, count, encoding.spans);
  encoding.type_ids.resize(encoding.ids.size(), type_id);
  encoding.special_mask.resize(encoding.ids.size(), 0);
}

void AppendSpecial(const TemplateItem& item, Encoding& encoding) {
  encoding.ids.push_back(item.id);
  encoding.word_ids.push_back(kNoWord);
  encoding.spans.push_back({});
  encoding.type_ids.push_back(item.type_id);
  encoding.special_mask.push_back(1);
}

Fault Misuse(const std::string& cause) {
  return {FaultKind::kMisuse, cause,
          "raise max_length or choose longest_first"};
}

}  // namespace

Template Template::Bert(std::int32_t cls, std::int32_t sep) {
  Template form;
  form.single = {{Kind::kSpecial, cls, 0},
                 {Kind::kFirst, -1, 0},
                 {Kind::kSpecial, sep, 0}};
  form.pair = form.single;
  form.pair.push_back({Kind::kSecond, -1, 1});
  form.pair.push_back({Kind::kSpecial, sep, 1});
  return form;
}

Template Template::Roberta(std::int32_t cls, std::int32_t sep) {
  Template form;
  form.single = {{Kind::kSpecial, cls, 0},
                 {Kind::kFirst, -1, 0},
                 {Kind::kSpecial, sep, 0}};
  form.pair = form.single;
  form.pair.push_back({Kind::kSpecial, sep, 0});
  form.pair.push_back({Kind::kSecond, -1, 0});
  form.pair.push_back({Kind::kSpecial, sep, 0});
  return form;
}

Template Template::Plain() {
  Template form;
  form.single = {{Kind::kFirst, -1, 0}};
  form.pair = {{Kind::kFirst, -1, 0}, {Kind::kSecond, -1, 1}};
  return form;
}

Expected<Lengths> Truncate(Lengths have, bool has_second, std::size_t budget,
                           Truncation strategy) {
  const std::size_t total = have.first + have.second;
  if (total <= budget) return have;
  if (budget == 0) return Lengths{0, 0};
  if (strategy == Truncation::kLongestFirst) {
    if (!has_second) return Lengths{budget, 0};
    // The shorter keeps its length when it fits in its half; an odd token is
    // the longer one's, of equals the second one's.
    std::size_t& shorter = have.first > have.second ? have.second : have.first;
    std::size_t& longer = have.first > have.second ? have.first : have.second;
    shorter = std::min(shorter, budget / 2);
    longer = budget - shorter;
    return have;
  }
  const bool cut_first = strategy == Truncation::kOnlyFirst;
  if (!cut_first && !has_second)
    return Misuse("there is no second text to cut");
  std::size_t& cut = cut_first ? have.first : have.second;
  const std::size_t excess = total - budget;
  if (cut <= excess) {
    return Misuse("the text to cut is too short for the others to fit");
  }
  cut -= excess;
  return have;
}

Expected<Done> Assemble(const Template& form, const TokenRun& first,
                        const TokenRun* second, const EncodeOptions& options,
                        Encoding& encoding) {
  encoding.Clear();
  const auto& items = second != nullptr ? form.pair : form.single;
  const auto is_special = [](const TemplateItem& item) {
    return item.kind == Kind::kSpecial;
  };
  Lengths keep{first.ids.size(), second != nullptr ? second->ids.size() : 0};
  if (options.max_length != 0) {
    const auto specials = static_cast<std::size_t>(
        options.add_special_tokens
            ? std::count_if(items.begin(), items.end(), is_special)
            : 0);
    if (specials > options.max_length) {
      return Misuse("max_length has no room for the special tokens");
    }
    Expected<Lengths> cut =
        Truncate(keep, second != nullptr, options.max_length - specials,
                 options.truncation);
    if (!cut.ok()) return cut.fault();
    keep = cut.value();
  }
  for (const TemplateItem& item : items) {
    if (item.kind == Kind::kFirst) {
      AppendRun(first, keep.first, item.type_id, encoding);
    } else if (item.kind == Kind::kSecond && second != nullptr) {
      AppendRun(*second, keep.second, item.type_id, encoding);
    } else if (is_special(item) && options.add_special_tokens) {
      AppendSpecial(item, encoding);
    }
  }
  encoding.attention_mask.assign(encoding.size(), 1);
  return Done{};
}

}  // namespace frostline::trainer
