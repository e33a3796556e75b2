// Problems of any family: sound ones at addresses where nothing is, and what makes them hostile.
#pragma once

#include <algorithm>
#include <climits>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <memory>

#include "tests/hostile/described.h"

namespace tw::hostile {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 0x2545F4914F6CDD1Dull + 12345) {}
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9E3779B97F4A7C15ull);
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ z >> 27) * 0x94D049BB133111EBull;
    return z ^ z >> 31;
  }
  std::int64_t below(std::int64_t n) {
    return static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(n));
  }
  std::int64_t from(std::int64_t first, std::int64_t last) {
    return first + below(last - first + 1);
  }
  bool chance(int percent) { return below(100) < percent; }
  template <class T>
  T of(std::initializer_list<T> all) {
    return all.begin()[below(static_cast<std::int64_t>(all.size()))];
  }

 private:
  std::uint64_t state_;
};

// Its memory is no larger than the struct, so that whoever reads beyond it is seen.
class Problem {
 public:
  explicit Problem(const Family& family)
      : family_(&family), bytes_(std::make_unique<char[]>(family.bytes)) {}
  Problem(const Problem& other) : Problem(*other.family_) {
    std::memcpy(bytes_.get(), other.bytes_.get(), family_->bytes);
  }
  const Family& family() const { return *family_; }
  void* data() { return bytes_.get(); }
  const void* data() const { return bytes_.get(); }

  std::int64_t get(const Field& field) const {
    std::int64_t wide = 0;
    std::int32_t narrow = 0;
    if (field.bytes() == 8) {
      std::memcpy(&wide, bytes_.get() + field.offset, 8);
      return wide;
    }
    std::memcpy(&narrow, bytes_.get() + field.offset, 4);
    return narrow;
  }
  void set(const Field* field, std::int64_t value) {
    if (field == nullptr) return;
    const auto narrow = static_cast<std::int32_t>(value);
    if (field->bytes() == 8) {
      std::memcpy(bytes_.get() + field->offset, &value, 8);
    } else {
      std::memcpy(bytes_.get() + field->offset, &narrow, 4);
    }
  }
  void set_real(const Field& field, float value) {
    std::memcpy(bytes_.get() + field.offset, &value, 4);
  }

 private:
  const Family* family_;
  std::unique_ptr<char[]> bytes_;
};

// Far enough from the next for every tensor of a sound problem; nothing lies there.
inline std::int64_t place(std::int64_t i) { return (i + 1) << 44; }

constexpr std::int64_t wide_stride = 1 << 14, batch_step = std::int64_t{1} << 28;

inline std::int64_t small_extent(Random& random) {
  return random.chance(60) ? random.from(1, 300) : random.of<std::int64_t>({1, 16, 128, 256, 4096});
}

// Strides and a type by the names of members, for what no description tells.
inline void add_by_name(Problem& problem, const Field& field, std::int64_t& next, Random& random) {
  if (field.is_address()) {
    problem.set(&field, place(next++));
  } else if (field.ends_in("row_stride")) {
    problem.set(&field, wide_stride);
  } else if (field.ends_in("column_stride") || field.ends_in("k_stride")) {
    problem.set(&field, 1);
  } else if (field.ends_in("batch_stride")) {
    problem.set(&field, batch_step);
  } else if (field.is_wide() && field.path != "size" && field.path != "family" &&
             (problem.get(field) == 0 || random.chance(30))) {
    problem.set(&field, problem.get(field) == 0 ? 8 * random.from(0, 30) : random.from(1, 4));
  }
}

inline bool is_of_epilogue(const Field& field) {
  return field.path.find("epilogue.") != std::string::npos;
}

inline void add_epilogue(Problem& problem, std::int64_t& next, Random& random) {
  const bool with_source = random.chance(40), with_auxiliary = random.chance(20);
  for (const Field& field : problem.family().fields) {
    if (!is_of_epilogue(field)) continue;
    const bool of_source = field.path.find(".source.") != std::string::npos;
    const bool of_auxiliary = field.path.find(".auxiliary.") != std::string::npos;
    if (of_source || of_auxiliary) {
      if (of_source ? with_source : with_auxiliary) add_by_name(problem, field, next, random);
    } else if (field.is_address()) {
      if (random.chance(20)) problem.set(&field, place(next++));
    } else if (field.ends_in("beta")) {
      problem.set_real(field, with_source ? 1.0f : 0.0f);
    } else if (field.ends_in("activation")) {
      problem.set(&field, random.from(0, 5));
    } else if (field.ends_in("bias_type")) {
      problem.set(&field, random.from(TW_BF16, TW_FP32));
    }
  }
}

// Scales of blocks of k have the rows of their operand.
inline void add_scale_extents(Problem& problem, const std::string& prefix) {
  const Family& family = problem.family();
  for (const char* operand : {"a", "b"}) {
    const Field* const rows = family.named(operand + std::string("_scales.rows"));
    const Field* const extent = family.named(prefix + (*operand == 'a' ? "m" : "n"));
    const Field* const k = family.named(prefix + "k");
    if (rows == nullptr || extent == nullptr || k == nullptr) continue;
    const auto blocks = [](std::int64_t of) { return (of + 127) / 128; };
    problem.set(rows, *operand == 'a' ? problem.get(*extent) : blocks(problem.get(*extent)));
    problem.set(family.named(operand + std::string("_scales.k_blocks")), blocks(problem.get(*k)));
  }
}

inline void add_described(Problem& problem, std::int64_t& next, Random& random) {
  // Numbers that go together, as those of attention: what is usual is sound.
  const bool usual = random.chance(40);
  for (const Field& field : problem.family().fields) {
    if (field.role == Field::Role::Flag && random.chance(10)) problem.set(&field, 1);
    if (field.role != Field::Role::Extent) continue;
    // Numbers without a range have a rule of their own, which their first value keeps.
    const bool has_range = field.low > INT64_MIN && field.limit < INT64_MAX;
    if (usual && field.usual >= std::max(field.low, std::int64_t{0}) && field.usual < field.limit) {
      problem.set(&field, field.usual);
    } else if (has_range && field.limit - field.low < 100) {
      problem.set(&field, random.from(field.low, field.limit - 1));
    } else if (has_range && problem.get(field) != 1) {
      problem.set(&field, std::max(field.low, small_extent(random)));
    } else if (has_range && random.chance(30)) {
      problem.set(&field, random.from(1, 3));
    }
  }
  const std::vector<Tensor>& tensors = problem.family().tensors;
  const auto any_type = [&](const Tensor& tensor) {
    return tensor.types[static_cast<std::size_t>(
        random.below(static_cast<std::int64_t>(tensor.types.size())))];
  };
  const std::int64_t first_type = tensors.empty() ? 0 : any_type(tensors.front());
  for (const Tensor& tensor : tensors) {
    if (tensor.optional && random.chance(60)) continue;
    problem.set(tensor.data, place(next++));
    const bool by_columns = tensor.by_columns != random.chance(15);
    problem.set(tensor.row_stride, by_columns ? 1 : wide_stride);
    problem.set(tensor.column_stride, by_columns ? wide_stride : 1);
    if (random.chance(80)) problem.set(tensor.batch_stride, batch_step);
    const auto& types = tensor.types;
    const bool has = std::find(types.begin(), types.end(), first_type) != types.end();
    problem.set(tensor.type, has && random.chance(70) ? first_type
                             : random.chance(70)      ? types.front()
                                                      : any_type(tensor));
  }
}

inline Problem sound_problem(const Family& family, Random& random) {
  Problem problem(family);
  tw_init(family.name.c_str(), problem.data(), family.bytes, nullptr);
  std::int64_t next = 0;
  if (family.is_described) {
    add_described(problem, next, random);
  } else {
    for (const Field& field : family.fields) {
      if (!is_of_epilogue(field)) add_by_name(problem, field, next, random);
    }
  }
  add_scale_extents(problem, family.named("matmul.m") == nullptr ? "" : "matmul.");
  if (random.chance(40)) add_epilogue(problem, next, random);
  return problem;
}

inline std::int64_t extreme(Random& random) {
  const int bits = static_cast<int>(random.from(0, 63));
  const auto power = static_cast<std::int64_t>(std::uint64_t{1} << bits);
  switch (random.below(8)) {
    case 0: return power;
    case 1: return static_cast<std::int64_t>(static_cast<std::uint64_t>(power) - 1);
    case 2: return static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(power));
    case 3:
      return random.of<std::int64_t>({INT64_MAX, INT64_MAX - 15, INT64_MAX / 2, INT64_MIN,
                                      INT64_MIN + 1, INT64_MIN / 2, -1, 0});
    case 4: return static_cast<std::int64_t>(std::uint64_t{1} << 31) + random.from(-258, 2);
    case 5: return static_cast<std::int64_t>(random.next() >> bits);
    case 6: return static_cast<std::int64_t>(random.next());
    default: return random.from(0, 300);
  }
}

// Another value in one field: an end of its range or of its type, an address that is misaligned or
// inside of another tensor, a value of no enum.
inline const Field& spoil(Problem& problem, Random& random) {
  const auto& fields = problem.family().fields;
  const Field& field =
      fields[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(fields.size())))];
  const auto old = static_cast<std::uint64_t>(problem.get(field));
  const auto moved = [&](std::int64_t step) {
    return static_cast<std::int64_t>(old + static_cast<std::uint64_t>(step));
  };
  if (field.is_address()) {
    problem.set(&field,
                random.of<std::int64_t>({0,
                                         1,
                                         2,
                                         4,
                                         8,
                                         15,
                                         16,
                                         4096,
                                         -1,
                                         -16,
                                         -256,
                                         INT64_MIN,
                                         moved(1),
                                         moved(2),
                                         moved(4),
                                         moved(8),
                                         moved(16),
                                         place(0),
                                         place(1),
                                         place(2),
                                         place(2) + 64,
                                         place(random.below(8)) + 16 * random.below(4096)}));
  } else if (field.is_real()) {
    constexpr float huge = std::numeric_limits<float>::max();
    problem.set_real(field, random.of({0.0f, -0.0f, 1.0f, -1.0f, 0.5f, NAN, INFINITY, -INFINITY,
                                       huge, -huge, std::numeric_limits<float>::denorm_min()}));
  } else if (!field.is_wide()) {
    problem.set(&field, random.of<std::int64_t>({0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 255, 256, -1,
                                                 INT_MAX, INT_MIN, 1 << 16}));
  } else if (field.role == Field::Role::Extent && random.chance(40)) {
    const auto step = [](std::int64_t value, std::int64_t by) {
      return static_cast<std::int64_t>(static_cast<std::uint64_t>(value) +
                                       static_cast<std::uint64_t>(by));
    };
    problem.set(&field, random.of({step(field.low, -1), field.low, step(field.limit, -1),
                                   field.limit, field.usual}));
  } else {
    problem.set(&field, random.chance(25) ? moved(random.of<std::int64_t>({1, -1, 16, -16}))
                                          : extreme(random));
  }
  return field;
}

}  // namespace tw::hostile
