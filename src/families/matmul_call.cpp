// Products, behind the functions of tilewright.h.
#include <algorithm>
#include <vector>

#include "src/dispatch/choose.h"
#include "src/library/copier.h"
#include "src/library/described.h"
#include "src/library/tuning.h"
#include "tilewright/family/matmul/family.h"

namespace tw::library {

namespace {

constexpr std::size_t round_up(std::size_t bytes, std::size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

constexpr Dispatcher dispatcher_of_products = {candidates, choose};

struct Products : DispatchedFamily<MatmulFamily, matmul_instances, choose> {
  static constexpr const Dispatcher* dispatcher() { return &dispatcher_of_products; }
  static constexpr MatmulFamily::TensorIndex operands[] = {MatmulFamily::a, MatmulFamily::b};

  struct Choice : DescribedChoice {
    bool copied[2] = {};           // whether the kernel gets an operand from a copy
    const char* target = nullptr;  // which target that copy is made for
    bool has_copies() const { return copied[0] || copied[1]; }
  };

  // The product, or the same of copies whose lines begin at multiples of 128 bytes, in `memory`;
  // it may live no longer than what it is made of.
  class Stated {
   public:
    static constexpr std::size_t alignment = 256;

    Stated(const Checked& given, const Choice& choice, std::byte* memory)
        : given_(given), stated_(&given) {
      if (!choice.has_copies()) return;
      problem_ = given.as<tw_matmul_problem>();
      for (const auto tensor : operands) {
        if (!choice.copied[tensor]) continue;
        TensorLines& copy = copies_[tensor] = given.tensor(tensor);
        const std::int64_t unit = 128 / bytes_of(copy.type);
        copy.pitch = (copy.length + unit - 1) / unit * unit;
        const bool is_shared = copy.batch_pitch == 0;
        copy.batch = is_shared ? 1 : copy.batch;
        copy.batch_pitch = is_shared ? 0 : copy.lines * copy.pitch;
        copy.data = memory + bytes_;
        bytes_ += round_up(
            static_cast<std::size_t>(copy.batch * copy.lines * copy.pitch) * bytes_of(copy.type),
            alignment);
        MatmulFamily::tensors[tensor].set(
            &problem_, {copy.data, copy.by_rows ? copy.pitch : 1, copy.by_rows ? 1 : copy.pitch,
                        copy.batch_pitch, static_cast<tw_type>(copy.type)});
      }
      // A copy of B is made just before.
      if (choice.copied[MatmulFamily::b]) problem_.b_is_constant = 0;
      status_ = check(of_copies_, MatmulFamily::description, &problem_);
      stated_ = &of_copies_;
    }
    Stated(const Stated&) = delete;
    Stated& operator=(const Stated&) = delete;
    operator const Checked&() const { return *stated_; }
    const Checked& given() const { return given_; }
    const Status& status() const { return status_; }
    std::size_t bytes() const { return bytes_; }  // room for the copies

    // Calls each(to, from) for what is copied, until one is refused.
    template <class Each>
    Status copies(const Choice& choice, const Each& each) const {
      for (const auto tensor : operands) {
        if (!choice.copied[tensor]) continue;
        TensorLines from = given_.tensor(tensor);
        from.batch = copies_[tensor].batch;
        if (const Status status = each(copies_[tensor], from); !status.is_good()) return status;
      }
      return Status::good();
    }

   private:
    const Checked& given_;
    tw_matmul_problem problem_;
    Checked of_copies_;
    TensorLines copies_[2];
    const Checked* stated_;
    std::size_t bytes_ = 0;
    Status status_ = Status::good();
  };
  // Before there is memory for copies they have an address that nobody reads.
  static Stated stated(const Checked& problem, const Choice& choice) {
    return {problem, choice, reinterpret_cast<std::byte*>(Stated::alignment)};
  }

  // A kernel that takes the operands as they are, or, where their lines begin anywhere, copies and
  // a kernel that does not, where that is expected to be faster.
  static Choice decide(const Checked& problem, const DispatchRequest& request) {
    Choice choice, of_copies;
    const Status status = ask(choice, problem, request, choose);
    if (request.instance == nullptr && has_copies(of_copies, problem, request) &&
        (!status.is_good() || of_copies.microseconds < choice.microseconds)) {
      return of_copies;
    }
    if (!status.is_good()) throw Failure{TW_UNSUPPORTED, status.sentence()};
    return choice;
  }

  static std::string command(const Stated& stated, const Choice& choice, const char* on) {
    std::string line = command_of(stated, choice, on);
    if (!choice.has_copies()) return line;
    return line + fmt::format("  # behind {} of {}",
                              choice.copied[0] && choice.copied[1] ? "copies" : "a copy",
                              choice.copied[0] ? choice.copied[1] ? "A and B" : "A" : "B");
  }

  // Copies lie behind the counters, which stay zero.
  static void add_copies(std::size_t& bytes, const Stated& stated) {
    if (stated.bytes() == 0) return;
    bytes = round_up(std::max(bytes, workspace_counter_bytes), Stated::alignment) + stated.bytes();
  }
  // Copies lie at the end of the workspace.
  static Status launch(const Stated& stated, const Choice& choice, const Workspace& workspace,
                       void* stream) {
    if (!choice.has_copies()) return DescribedFamily::launch(stated, choice, workspace, stream);
    const std::size_t before =
        (workspace.bytes - stated.bytes()) / Stated::alignment * Stated::alignment;
    const Stated placed(stated.given(), choice, static_cast<std::byte*>(workspace.data) + before);
    const Status copied =
        placed.copies(choice, [&](const TensorLines& to, const TensorLines& from) {
          return copier()->launch(to, from, choice.target, stream);
        });
    if (!copied.is_good()) return copied;
    return DescribedFamily::launch(placed, choice,
                                   {workspace.data, before, workspace.other_counters}, stream);
  }
  static Status simulate(const Stated& stated, const Choice& choice, vgpu::Report& report) {
    if (!choice.has_copies()) return DescribedFamily::simulate(stated, choice, report);
    std::vector<std::byte> memory(stated.bytes() + Stated::alignment);
    const auto beyond = reinterpret_cast<std::uintptr_t>(memory.data()) % Stated::alignment;
    const Stated placed(stated.given(), choice, memory.data() + Stated::alignment - beyond);
    const Status copied =
        placed.copies(choice, [&](const TensorLines& to, const TensorLines& from) {
          const Status status = copier()->simulate(to, from, choice.target, report);
          if (status.is_good()) check_report(report);
          return status;
        });
    if (!copied.is_good()) return copied;
    return DescribedFamily::simulate(placed, choice, report);
  }

 private:
  static bool has_copies(Choice& choice, const Checked& problem, const DispatchRequest& request) {
    if (copier() == nullptr || problem.is_empty() || problem.product().k == 0) return false;
    double microseconds = 0;
    choice.target = request.target;
    for (const auto tensor : operands) {
      const TensorLines& lines = problem.tensor(tensor);
      choice.copied[tensor] =
          alignment_of(lines.data, lines.pitch, lines.batch, lines.batch_pitch, lines.type) < 16;
    }
    if (!choice.has_copies()) return false;
    const Stated copies = stated(problem, choice);
    const Status served =
        copies.copies(choice, [&](const TensorLines& to, const TensorLines& from) {
          microseconds +=
              expected_copy_microseconds(static_cast<double>(to.batch * to.lines) *
                                         static_cast<double>(to.length) * bytes_of(to.type));
          return copier()->serves(to, from, request.target);
        });
    DispatchRequest left = request;
    const std::size_t needed = copies.bytes() + workspace_counter_bytes;
    if (!served.is_good() || !copies.status().is_good() || needed > request.workspace_limit) {
      return false;
    }
    left.workspace_limit -= copies.bytes();
    if (!ask(choice, copies, left, choose).is_good()) return false;
    choice.microseconds += microseconds;
    return true;
  }
};
const Registered registered_matmul(Calls<Products>::table);

}  // namespace

}  // namespace tw::library
