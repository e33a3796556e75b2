#include "src/library/decisions.h"

#include <fmt/format.h>

#include <mutex>
#include <utility>

namespace tw::library {

namespace {

constexpr std::int64_t letters_word(const char* word) {
  std::int64_t packed = 0;
  for (; word != nullptr && *word != 0; ++word) packed = packed << 8 | *word;
  return packed;
}

// These call visit(what, of, word) for each word; `of` may be null.

template <class Visit>
void matrix_words(const char* name, const tw_matrix& given, bool present, const Visit& visit) {
  visit("The row_stride", name, present ? given.row_stride : 0);
  visit("The column_stride", name, present ? given.column_stride : 0);
  visit("The batch_stride", name, present ? given.batch_stride : 0);
  visit("The type", name, present ? static_cast<int>(given.type) : 0);
  visit("The alignment", name, present ? alignment_word(given.data) : 0);
}

template <class Visit>
void epilogue_words(const tw_epilogue& epilogue, const Visit& visit) {
  matrix_words("the source", epilogue.source, epilogue.beta != 0.0f, visit);
  matrix_words("the auxiliary output", epilogue.auxiliary, epilogue.auxiliary.data != nullptr,
               visit);
  visit("The value (0: alpha is 0)", "alpha", epilogue.alpha != 0.0f);
  visit("The value (0: beta is 0)", "beta", epilogue.beta != 0.0f);
  visit("The value (0: output_scale is 1)", "output_scale", epilogue.output_scale != 1.0f);
  visit("The activation", nullptr, epilogue.activation);
  visit("The gate", nullptr, epilogue.gated != 0);
  const bool biased = epilogue.column_bias != nullptr || epilogue.row_bias != nullptr;
  visit("The type", "the biases", biased ? static_cast<int>(epilogue.bias_type) : 0);
  visit("The alignment", "the column bias", alignment_word(epilogue.column_bias));
  visit("The alignment", "the row bias", alignment_word(epilogue.row_bias));
  visit("The alignment", "the column scale", alignment_word(epilogue.column_scale));
  visit("The alignment", "the row scale", alignment_word(epilogue.row_scale));
  visit("The alignment", "amax", alignment_word(epilogue.amax));
}

template <class Visit>
void key_words(const Description& description, const void* problem, const tw_options& options,
               std::int64_t instance, const Device& device, const Visit& visit) {
  visit("The device", nullptr, device.number);
  visit("The target", nullptr, letters_word(device.target));
  visit("The number of SMs", nullptr, device.sms);
  for (const IntegerField& number : description.numbers) {
    const bool is_flag = number.kind == IntegerField::Kind::Flag;
    const std::int64_t value = number.get(problem);
    visit(number.name, nullptr, is_flag ? value != 0 : value);
  }
  for (const TensorField& tensor : description.tensors) {
    matrix_words(tensor.title, tensor.get(problem), detail::is_present(tensor, problem), visit);
  }
  if (description.product != nullptr) {
    epilogue_words(description.product->epilogue(problem), visit);
  }
  visit("batch_invariant", nullptr, options.batch_invariant != 0);
  visit("fast_accumulation", nullptr, options.fast_accumulation != 0);
  visit("workspace_limit", nullptr, static_cast<std::int64_t>(options.workspace_limit));
  visit("The instance", nullptr, instance);
}

// A set is locked for the time of a copy, so that threads meet only where they ask for the same
// shapes.
constexpr std::size_t recent_sets = 1024;
constexpr std::size_t recent_ways = 4;
struct RecentSet {
  std::mutex mutex;
  std::size_t oldest = 0;
  std::pair<ProblemKey, Decision> entries[recent_ways];
};

RecentSet& recent_set(const ProblemKey& key) {
  // They live as long as the process: threads may still call while it ends.
  static RecentSet* const sets = new RecentSet[recent_sets];
  return sets[key.hash() % recent_sets];
}

}  // namespace

std::int64_t alignment_word(const void* address) {
  if (address == nullptr) return 0;
  const std::uintptr_t bits = reinterpret_cast<std::uintptr_t>(address) | 16;
  return static_cast<std::int64_t>(bits & (~bits + 1));
}

ProblemKey::ProblemKey() = default;

bool ProblemKey::operator==(const ProblemKey& other) const {
  return family_ == other.family_ && words_ == other.words_;
}

ProblemKey::ProblemKey(const Family& family, const void* problem, const tw_options& options,
                       std::int64_t instance, const Device& device)
    : family_(&family) {
  const Description& description = *family.description;
  words_.reserve(32 + description.numbers.size() + 5 * description.tensors.size());
  key_words(description, problem, options, instance, device,
            [this](const char*, const char*, std::int64_t word) { words_.push_back(word); });
}

std::uint64_t ProblemKey::hash() const {
  std::uint64_t hash = 0x9E3779B97F4A7C15ull ^ reinterpret_cast<std::uintptr_t>(family_);
  for (const std::int64_t word : words_) {
    hash = (hash ^ static_cast<std::uint64_t>(word)) * 0xBF58476D1CE4E5B9ull;
    hash ^= hash >> 29;
  }
  return hash;
}

std::string ProblemKey::difference(const ProblemKey& planned) const {
  const Description& description = *family_->description;
  const std::vector<std::uint64_t> empty(description.size / sizeof(std::uint64_t));
  std::string sentence;
  std::size_t index = 0;
  key_words(
      description, empty.data(), {}, 0, {}, [&](const char* what, const char* of, std::int64_t) {
        const std::int64_t mine = words_[index], theirs = planned.words_[index];
        index += 1;
        if (mine == theirs || !sentence.empty()) return;
        sentence = fmt::format("{}{}{} is {}, but the plan was made for {}.", what,
                               of == nullptr ? "" : " of ", of == nullptr ? "" : of, mine, theirs);
      });
  return sentence;
}

bool find_recent(Decision& decision, const ProblemKey& key) {
  RecentSet& set = recent_set(key);
  const std::lock_guard lock(set.mutex);
  for (const auto& [known, decided] : set.entries) {
    if (!(known == key)) continue;
    decision = decided;
    return true;
  }
  return false;
}

void remember(const Decision& decision, const ProblemKey& key) {
  RecentSet& set = recent_set(key);
  const std::lock_guard lock(set.mutex);
  set.entries[set.oldest] = {key, decision};
  set.oldest = (set.oldest + 1) % recent_ways;
}

}  // namespace tw::library
