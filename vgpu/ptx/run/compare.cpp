// Comparisons, and choices by predicates.
#include <cmath>
#include <compare>
#include <limits>

#include "vgpu/ptx/run/operation.h"

namespace tw::vgpu::ptx {
namespace {

// Comparisons of floats are false where one is NaN; those that end in u are true then.
enum class Relation : std::uint8_t {
  Equal,
  NotEqual,
  Less,
  AtMost,
  More,
  AtLeast,
  BothNumbers,
  SomeNan
};

template <Relation relation, class T>
bool holds(T a, T b) {
  switch (relation) {
    case Relation::Equal: return a == b;
    case Relation::NotEqual: return a < b || a > b;
    case Relation::Less: return a < b;
    case Relation::AtMost: return a <= b;
    case Relation::More: return a > b;
    case Relation::AtLeast: return a >= b;
    case Relation::BothNumbers: return a == a && b == b;
    case Relation::SomeNan: return a != a || b != b;
  }
  return false;
}

// A float that counts as zero where it is subnormal.
struct Flushed {
  float stored;
  float value() const {
    return std::fabs(stored) < std::numeric_limits<float>::min() ? 0.0f : stored;
  }
  friend std::partial_ordering operator<=>(const Flushed& a, const Flushed& b) {
    return a.value() <=> b.value();
  }
  friend bool operator==(const Flushed& a, const Flushed& b) { return a.value() == b.value(); }
};

enum class Joined : std::uint8_t { Alone, And, Or, Xor };

template <Joined joined>
bool join(bool found, bool other) {
  switch (joined) {
    case Joined::Alone: return found;
    case Joined::And: return found && other;
    case Joined::Or: return found || other;
    case Joined::Xor: return found != other;
  }
  return found;
}

// setp p, a, b and setp p|q, a, b, c: q is what p would be if the comparison came out otherwise.
template <class T, Relation relation, bool or_nan, Joined joined, bool pair>
void compare(Frame& frame, const Step& step) {
  const Slot* const from = step.slots + (pair ? 2 : 1);
  const auto a = get<T>(frame, from[0]), b = get<T>(frame, from[1]);
  const bool found = holds<relation>(a, b) || (or_nan && (a != a || b != b));
  const bool other = joined != Joined::Alone && get_predicate(frame, from[2]);
  put_predicate(frame, step.slots[0], join<joined>(found, other));
  if constexpr (pair) put_predicate(frame, step.slots[1], join<joined>(!found, other));
}

template <class T, Relation relation, bool or_nan, Joined joined>
void add_joined(FormTable& table, const std::string& name) {
  const std::string from = letter<T>() + letter<T>() + (joined == Joined::Alone ? "" : "1");
  table.add(name, "1" + from, compare<T, relation, or_nan, joined, false>);
  table.add(name, "1|1" + from, compare<T, relation, or_nan, joined, true>);
}

template <class T, Relation relation, bool or_nan = false>
void add_relation(FormTable& table, const std::string& name, const std::string& type) {
  add_joined<T, relation, or_nan, Joined::Alone>(table, "setp." + name + type);
  add_joined<T, relation, or_nan, Joined::And>(table, "setp." + name + ".and" + type);
  add_joined<T, relation, or_nan, Joined::Or>(table, "setp." + name + ".or" + type);
  add_joined<T, relation, or_nan, Joined::Xor>(table, "setp." + name + ".xor" + type);
}

template <class T>
void add_order(FormTable& table, const std::string& type) {
  add_relation<T, Relation::Equal>(table, "eq", type);
  add_relation<T, Relation::NotEqual>(table, "ne", type);
  add_relation<T, Relation::Less>(table, "lt", type);
  add_relation<T, Relation::AtMost>(table, "le", type);
  add_relation<T, Relation::More>(table, "gt", type);
  add_relation<T, Relation::AtLeast>(table, "ge", type);
}
template <class T>
void add_unordered(FormTable& table, const std::string& type) {
  add_relation<T, Relation::Equal, true>(table, "equ", type);
  add_relation<T, Relation::NotEqual, true>(table, "neu", type);
  add_relation<T, Relation::Less, true>(table, "ltu", type);
  add_relation<T, Relation::AtMost, true>(table, "leu", type);
  add_relation<T, Relation::More, true>(table, "gtu", type);
  add_relation<T, Relation::AtLeast, true>(table, "geu", type);
  add_relation<T, Relation::BothNumbers>(table, "num", type);
  add_relation<T, Relation::SomeNan>(table, "nan", type);
}

template <class T>
void select(Frame& frame, const Step& step) {
  const bool first = get_predicate(frame, step.slots[3]);
  put<T>(frame, step.slots[0], get<T>(frame, step.slots[first ? 1 : 2]));
}

}  // namespace

void add_comparisons(FormTable& table) {
  each_integer([&](const std::string& type, auto tag) {
    using T = typename decltype(tag)::type;
    add_order<T>(table, type);
    if constexpr (!std::is_signed_v<T>) {
      add_relation<T, Relation::Less>(table, "lo", type);
      add_relation<T, Relation::AtMost>(table, "ls", type);
      add_relation<T, Relation::More>(table, "hi", type);
      add_relation<T, Relation::AtLeast>(table, "hs", type);
    }
  });
  each_bits([&](const std::string& type, auto tag) {
    using T = typename decltype(tag)::type;
    add_relation<T, Relation::Equal>(table, "eq", type);
    add_relation<T, Relation::NotEqual>(table, "ne", type);
  });
  add_order<float>(table, ".f32");
  add_order<double>(table, ".f64");
  add_unordered<float>(table, ".f32");
  add_order<Flushed>(table, ".ftz.f32");
  add_unordered<Flushed>(table, ".ftz.f32");
  add_unordered<double>(table, ".f64");
  const auto add_selection = [&](const std::string& type, auto tag) {
    using T = typename decltype(tag)::type;
    table.add("selp" + type, letter<T>() + letter<T>() + letter<T>() + "1", select<T>);
  };
  each_integer(add_selection);
  each_bits(add_selection);
  add_selection(".f32", Type<std::uint32_t>());
  add_selection(".f64", Type<std::uint64_t>());
}

}  // namespace tw::vgpu::ptx
