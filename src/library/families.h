// The families behind the functions of tilewright.h, which serve them all.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "src/dispatch/dispatcher.h"
#include "tilewright.h"

namespace tw::library {

// A kernel and its order, and what is done to the problem before.
struct Choice : LaunchChoice {
  // Bits that Family::rewrite knows; 0: the kernel takes the problem as it is.
  unsigned rewritten = 0;
  const char* target = nullptr;  // whose kernels copy, where operands are copied
};

// What a kernel takes in place of a problem: a product, perhaps of copies of operands. It lives no
// longer than the problem.
class Rewritten {
 public:
  explicit Rewritten(const Checked& given);
  Rewritten(const Rewritten&) = delete;
  Rewritten& operator=(const Rewritten&) = delete;

  const Checked& given() const;
  const Checked& stated() const;
  const Status& status() const;
  std::size_t copied_bytes() const;

  struct Copy {
    const char* title;
    TensorLines to, from;
  };
  std::span<const Copy> copies() const;

  // For Family::rewrite. Copies have lines that begin at multiples of 128 bytes, in `memory`.
  static constexpr std::size_t alignment = 256;
  const TensorLines& add_copy(const char* title, const TensorLines& from, std::byte* memory);
  void state(const Description& description, const tw_matmul_problem& product);

 private:
  const Checked& given_;
  const Checked* stated_;
  tw_matmul_problem product_;
  Checked own_;
  Copy copies_[2];
  std::size_t num_copies_ = 0;
  std::size_t bytes_ = 0;
  Status status_ = Status::good();
};

struct Family {
  const Description* description;
  std::span<const Instance> (*instances)();
  // Without `candidates` it has no cost model; without `choose` the first kernel that serves is
  // taken.
  Dispatcher dispatcher = {};
  // Chooses where the dispatcher's choice is not all, and throws where there is none.
  Choice (*decide)(const Checked& problem, const DispatchRequest& request) = nullptr;
  // Makes what the chosen kernel takes; `memory` is for copies. Called where `rewritten` is not 0.
  void (*rewrite)(Rewritten& made, const Choice& choice, std::byte* memory) = nullptr;
  // The words by which tables know a problem, where they are not those of its product.
  std::string (*call)(const Checked& problem) = nullptr;

  const char* name() const;
};

inline constexpr std::size_t most_families = 64;

// Puts a family into the table, for as long as the process lives. Not by two threads at once.
void add_family(const Family& family);

// A family's file has one, which hands out its number when the library is loaded.
struct Registered {
  explicit Registered(const Family& family);
};

// Adds the families of a shared object; or throws, and adds none.
void load_plugin(const char* path);
// Adds those of TW_PLUGIN, once; throws, on every call, where that cannot be: whoever sets it
// counts on it.
void load_named_plugins();

std::span<const Family* const> families();

// The number that problems of a family carry; it counts from 1.
std::uint64_t number_of(const Family& family);
const Family& family_named(const char* name);
const Family& family_of(const void* problem);
// The words of 8 bytes in which its problem has addresses.
const std::vector<std::size_t>& addresses_of(const Family& family);

}  // namespace tw::library
