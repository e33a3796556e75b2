// Problems of a described family with known answers, for the command line, the fuzzer and tests.
#pragma once

#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "src/instances/instance.h"
#include "src/instances/names.h"
#include "src/instances/run_line.h"
#include "src/instances/shape.h"
#include "src/verify/compare.h"
#include "src/verify/matrix.h"

namespace tw {

using Random = std::mt19937_64;
inline std::int64_t between(Random& random, std::int64_t first, std::int64_t last) {
  return first + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(last - first + 1));
}

// A struct of the C interface whose type is known by its description.
class AnyProblem {
 public:
  // Holds what the initialiser leaves, or what is usual on the command line.
  explicit AnyProblem(const Description& description);
  template <class Problem>
  explicit AnyProblem(const Problem& problem) : bytes_(sizeof problem) {
    std::memcpy(bytes_.data(), &problem, sizeof problem);
  }
  void* data() { return bytes_.data(); }
  const void* data() const { return bytes_.data(); }
  template <class Problem>
  Problem& as() {
    return *reinterpret_cast<Problem*>(bytes_.data());
  }
  template <class Problem>
  const Problem& as() const {
    return *reinterpret_cast<const Problem*>(bytes_.data());
  }
  bool operator==(const AnyProblem&) const = default;

 private:
  std::vector<std::byte> bytes_;
};

// A non-null placeholder: marks an optional tensor as present before memory exists.
void* some_address();

// A matrix as the C interface states it, at an address.
tw_matrix matrix_at(void* address, const HostMatrix& matrix);

class HostProblem;
struct Case;

// Whether the caller sets a field.
using IsGiven = std::function<bool(const char*)>;

// What a kernel must leave in memory.
class Answer {
 public:
  virtual ~Answer() = default;
  virtual Comparison compare(const HostProblem& ran) const = 0;
};

// What tools and tests need of a family beside its description.
struct Trial {
  const Description* description;
  std::span<const Instance> (*instances)();
  // Sets what an instance fixes and the caller leaves open.
  void (*adopt)(void* problem, const Instance&, const IsGiven& is_given);
  // Sets the numbers that follow from lists and others, or says why they contradict each other.
  // Null where none do.
  Status (*settle)(void* problem, const Lists&, const Instance&);
  // Any problem that the instance takes; of a product, beside its epilogue.
  void (*random)(Case&, Random&);
  // Inputs by seed; outputs are poisoned already.
  void (*fill)(HostProblem&, const Case&);
  // Straight from the definition. Products share the formulas of activations with the kernels.
  std::shared_ptr<const Answer> (*answer)(const Case&, const HostProblem& given);
  InstanceWords (*list)(const Instance&);  // words for ./tw list; null: those of all that multiply
  // Tracks of a CTA's timeline if the instance is compiled with tracing, else 0. Null: a product's.
  unsigned (*tracks)(const Instance&) = nullptr;
  // The same as `answer`, summed up by a GPU, for cases that are too large for the host; or null.
  std::shared_ptr<const Answer> (*answer_on_gpu)(const Case&, const HostProblem& given) = nullptr;
  // What --split-k and --stream-k mean, where the family is no product and launches may cut.
  const char* parts = nullptr;
  const char* streams = nullptr;
};

// Kernels that stream have one role with one track.
template <class Config>
unsigned tracks_of_stream(const Instance& instance) {
  return static_cast<const Config*>(instance.facts)->tracing == Tracing::On ? 1 : 0;
}

// A problem without memory: a column_stride other than 1 says that columns are contiguous, an
// address that is not null that a tensor is there which may be absent.
struct Case {
  const Trial* trial;
  const Instance* instance;
  AnyProblem problem;
  Lists lists = {};
  LaunchOrder order = {};             // for an instance that multiplies
  bool unaligned = false;             // lines of memory begin at no multiple of 16 bytes
  Spacing spacing = Spacing::Usual;   // lines of tensors that are not unaligned
  std::uint32_t unaligned_small = 0;  // those of small tensors, by bit, whatever the others do
  bool shared_b = false;              // product: one B for the whole batch
  bool infinite = false;              // product: one element of A, by seed
  std::int64_t largest = 320;         // largest random extent
  Fill fill = Fill::Integers;
  std::uint64_t seed = 1;
  bool operator==(const Case&) const = default;

  template <class Problem>
  Problem& as() {
    return problem.as<Problem>();
  }
  // With the numbers that follow; refused where there are none.
  Status settle() {
    if (trial->settle == nullptr) return Status::good();
    return trial->settle(problem.data(), lists, *instance);
  }
};
// A case of an instance and all that it fixes; otherwise usual.
Case usual_case(const Trial& trial, const Instance& instance);
Case random_case(const Trial& trial, const Instance& instance, Random& random,
                 std::int64_t largest = 320);

// One in four of the cases that take it gets an infinity.
void try_infinity(Case& of, Random& random);
// One in eight gets lines that are far apart: for the virtual GPU, where such memory costs nothing.
void try_far(Case& of, Random& random);

// The problem with the strides that it will have and addresses that are merely aligned as its own
// will be: enough to ask whether a kernel takes it. The case is settled.
AnyProblem problem_without_memory(const Case& of);
// Why the case's instance does not take its problem; good if it does. Settles it.
Status serves(Case& of);

// Memory for a problem, on the host: inputs filled, outputs poisoned. Its tensors are those of the
// description, then those of an epilogue.
class HostProblem {
 public:
  // The case is settled.
  explicit HostProblem(const Case& of);

  const Description& description() const { return *trial_->description; }
  const AnyProblem& problem() const { return problem_; }
  HostMatrix& tensor(std::size_t index) { return tensors_[index]; }
  const HostMatrix& tensor(std::size_t index) const { return tensors_[index]; }
  std::size_t tensors() const { return tensors_.size(); }
  bool is_written(std::size_t index) const;
  // The problem with addresses of this memory, or of copies elsewhere.
  AnyProblem placed(const std::function<void*(std::size_t tensor)>& address) const;
  AnyProblem placed();

 private:
  const Trial* trial_;
  AnyProblem problem_;
  std::vector<HostMatrix> tensors_;
};

// The answer to one case, computed once for many schedules; `on_gpu`, by the GPU where it can.
class Verified {
 public:
  explicit Verified(Case of, bool on_gpu = false);
  const Case& of() const { return case_; }
  const HostProblem& given() const { return given_; }
  Comparison compare(const HostProblem& ran) const { return answer_->compare(ran); }

 private:
  Case case_;
  HostProblem given_;
  std::shared_ptr<const Answer> answer_;
};

// Outputs that are the reference's bit by bit. `reference` computes them in memory of the host.
std::shared_ptr<const Answer> exact_answer(const HostProblem& given,
                                           void (*reference)(const Checked& on_host));
template <void (*reference)(const Checked& on_host)>
std::shared_ptr<const Answer> exactly(const Case&, const HostProblem& given) {
  return exact_answer(given, reference);
}

// The same bytes in every output, padding included.
bool same_outputs(const HostProblem& first, const HostProblem& second);

// Bit by bit; `result` gets what is wrong.
void compare_bits(Comparison& result, const char* name, const HostMatrix& found,
                  const HostMatrix& expected);

// The words that repeat a run, but for where and in which order it runs: ./tw run quantise ...
std::string run_line(const Case& of);

}  // namespace tw
