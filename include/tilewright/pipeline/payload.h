// What flows through a ring: the parts of one stage, who brings them, how their arrival is
// announced, and who reads them.
#pragma once

#include <algorithm>

#include "tilewright/io/completion.h"

namespace tw {

// The roles that the warps of a kernel play. Side brings parts that Load does not.
enum class Role : unsigned { Load, Side, Schedule, Source, Multiply, Epilogue };
inline constexpr unsigned role_count = 6;

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
  struct Sums {
    unsigned loading[role_count] = {};
    unsigned reading[role_count] = {};
    unsigned bytes[role_count] = {};
    unsigned full = 0;
    unsigned empty = 0;
  };
  static constexpr Sums sums() {
    Sums result;
    for (const Part& part : Payload::parts) {
      const unsigned by = static_cast<unsigned>(part.loaded_by.role);
      result.loading[by] = std::max(result.loading[by], part.loaded_by.arrivals);
      if (part.completion == Completion::TransactionBytes) result.bytes[by] += part.bytes;
      for (const RoleArrivals& reader : part.read_by) {
        unsigned& reading = result.reading[static_cast<unsigned>(reader.role)];
        reading = std::max(reading, reader.arrivals);
      }
    }
    for (unsigned role = 0; role < role_count; ++role) {
      result.full += result.loading[role];
      result.empty += result.reading[role];
    }
    return result;
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
  static constexpr unsigned full_arrivals = sums().full;
  static constexpr unsigned empty_arrivals = sums().empty;  // in each CTA that reads the stage
  static constexpr bool read_by(Role role) {
    return sums().reading[static_cast<unsigned>(role)] > 0;
  }
  static constexpr unsigned bytes_by(Role role) {
    return sums().bytes[static_cast<unsigned>(role)];
  }
  static constexpr Completion completion_by(Role role) {
    for (const Part& part : Payload::parts) {
      if (part.loaded_by.role == role) return part.completion;
    }
    return Completion::TransactionBytes;
  }
};

}  // namespace tw
