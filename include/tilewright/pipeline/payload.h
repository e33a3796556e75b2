// What flows through a ring: the parts of one stage, who brings them, how their arrival is
// announced, and who reads them.
#pragma once

#include <algorithm>
#include <type_traits>

#include "tilewright/base/require.h"
#include "tilewright/io/completion.h"

namespace tw {

// A role that warps of a kernel play. It is its name, which reports show: the skeleton's own roles
// are listed here, a program names others as it needs them.
struct Role {
  char name[16] = {};

  consteval Role(const char* text) {
    unsigned length = 0;
    for (; text[length] != 0; ++length) {
      require(length + 1 < sizeof(name), "The name of a role has at most 15 letters.");
      name[length] = text[length];
    }
    require(length > 0, "A role must have a name.");
  }
  friend constexpr bool operator==(const Role&, const Role&) = default;

  static const Role Load, LoadScales, Schedule, Source, Multiply, Epilogue;
};
inline constexpr Role Role::Load = "load";
inline constexpr Role Role::LoadScales = "load scales";
inline constexpr Role Role::Schedule = "schedule";
inline constexpr Role Role::Source = "source";
inline constexpr Role Role::Multiply = "multiply";
inline constexpr Role Role::Epilogue = "epilogue";

// `arrivals` of a role on a signal, in each stage and CTA.
struct RoleArrivals {
  Role role = Role::Load;
  unsigned arrivals = 0;
};

// Who says that a stage has been read.
enum class Release : unsigned {
  Group,   // one thread of a warpgroup: what it waited for holds for all of them
  Warp,    // each warp, when all of its lanes are done
  Thread,  // the one thread that reads at all
  Commit,  // the tensor core, when the products issued so far are done
};

struct Part {
  unsigned bytes;  // that land in one CTA per stage
  Completion completion;
  RoleArrivals loaded_by;
  RoleArrivals read_by[2] = {};
};

// A payload declares `Tiles`, the plain struct of one stage's shared memory, and `parts`. Counts
// are sums over the parts, nobody writes them by hand: a role that loads or reads several parts
// arrives once for all of them.
template <class Payload>
class PayloadCounts {
  static constexpr unsigned part_count = sizeof(Payload::parts) / sizeof(Part);
  static constexpr unsigned loads(Role role) {
    unsigned arrivals = 0;
    for (const Part& part : Payload::parts) {
      if (part.loaded_by.role == role) arrivals = std::max(arrivals, part.loaded_by.arrivals);
    }
    return arrivals;
  }
  static constexpr unsigned reads(Role role) {
    unsigned arrivals = 0;
    for (const Part& part : Payload::parts) {
      for (const RoleArrivals& reader : part.read_by) {
        if (reader.role == role) arrivals = std::max(arrivals, reader.arrivals);
      }
    }
    return arrivals;
  }
  static constexpr Role loader(unsigned i) { return Payload::parts[i].loaded_by.role; }
  static constexpr Role reader(unsigned i) { return Payload::parts[i / 2].read_by[i % 2].role; }
  // Over `count` places that name a role: its arrivals count where it is first named.
  static constexpr unsigned over_roles(unsigned count, Role (*named)(unsigned),
                                       unsigned (*arrivals)(Role)) {
    unsigned sum = 0;
    for (unsigned i = 0; i < count; ++i) {
      bool is_first = true;
      for (unsigned j = 0; j < i; ++j) is_first = is_first && named(j) != named(i);
      if (is_first) sum += arrivals(named(i));
    }
    return sum;
  }

  // A role's token announces all that it loads in one way.
  static constexpr bool one_completion_per_role() {
    for (const Part& part : Payload::parts) {
      for (const Part& other : Payload::parts) {
        if (part.loaded_by.role == other.loaded_by.role && part.completion != other.completion) {
          return false;
        }
      }
    }
    return true;
  }
  static_assert(one_completion_per_role(),
                "Parts that one role loads must be announced in one way: one token does it.");

 public:
  static constexpr unsigned full_arrivals = over_roles(part_count, loader, loads);
  // In each CTA that reads the stage.
  static constexpr unsigned empty_arrivals = over_roles(2 * part_count, reader, reads);
  static constexpr bool read_by(Role role) { return reads(role) > 0; }
  // Whether the launch says how many bytes of a stage come: those of boxes that fill parts of it.
  // Such a payload says what announces them, in place of a ring's own signals.
  static constexpr bool bytes_are_given = requires { typename Payload::Announces; };
  template <class Signal>
  static consteval auto announced_by() {
    if constexpr (bytes_are_given) {
      return std::type_identity<typename Payload::Announces>();
    } else {
      return std::type_identity<Signal>();
    }
  }
  template <class Signal>
  using Announced = typename decltype(announced_by<Signal>())::type;
  static constexpr unsigned bytes_by(Role role) {
    unsigned bytes = 0;
    for (const Part& part : Payload::parts) {
      const bool counts = part.completion == Completion::TransactionBytes;
      if (counts && part.loaded_by.role == role) bytes += part.bytes;
    }
    return bytes;
  }
  static constexpr Completion completion_by(Role role) {
    for (const Part& part : Payload::parts) {
      if (part.loaded_by.role == role) return part.completion;
    }
    return Completion::TransactionBytes;
  }
};

}  // namespace tw
