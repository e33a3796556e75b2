// Quantisers for FP8 with scales of blocks, and copies, behind the functions of tilewright.h.
#include "src/library/copier.h"
#include "src/library/described.h"
#include "tilewright/family/quantise/family.h"
#include "vgpu/machine/machine.h"

namespace tw {

std::span<const Instance> quantise_instances();

namespace library {
namespace {

constexpr Family quantisers = usual_family<QuantiseFamily, quantise_instances>();
const Registered registered_quantise(quantisers);

// A copy as a problem of quantise, and the kernel that takes it.
class Copying {
 public:
  Copying(const TensorLines& to, const TensorLines& from, const char* target) {
    library::initialise(QuantiseFamily::description, &problem_);
    problem_.m = from.lines;
    problem_.k = from.length;
    problem_.batch = from.batch;
    problem_.scale_rows = 0;
    problem_.source = matrix_of(from);
    problem_.elements = matrix_of(to);
    status_ = check(checked_, QuantiseFamily::description, &problem_);
    if (!status_.is_good()) return;
    status_ = Status::refused("There is no kernel that copies for this device.");
    for (const Instance& instance : quantise_instances()) {
      if (!runs_on(instance.target, target, instance.capability_end)) continue;
      if (!instance.supports(checked_, {}).is_good()) continue;
      instance_ = &instance;
      status_ = Status::good();
      return;
    }
  }
  Copying(const Copying&) = delete;
  Copying& operator=(const Copying&) = delete;

  const Status& status() const { return status_; }
  Status launch(void* stream) const {
    return status_.is_good() ? instance_->launch(checked_, {}, stream) : status_;
  }
  Status simulate(vgpu::Report& report) const {
    return status_.is_good() ? instance_->simulate(checked_, {}, {}, report) : status_;
  }

 private:
  static tw_matrix matrix_of(const TensorLines& lines) {
    const auto type = lines.type == ElementType::Tf32 ? ElementType::Fp32 : lines.type;
    return {lines.data, lines.pitch, 1, lines.batch_pitch, static_cast<tw_type>(type)};
  }

  tw_quantise_problem problem_ = {};
  Checked checked_;
  const Instance* instance_ = nullptr;
  Status status_ = Status::good();
};

constexpr Copier by_quantise = {
    [](const TensorLines& to, const TensorLines& from, const char* target) {
      return Copying(to, from, target).status();
    },
    [](const TensorLines& to, const TensorLines& from, const char* target, void* stream) {
      return Copying(to, from, target).launch(stream);
    },
    [](const TensorLines& to, const TensorLines& from, const char* target, vgpu::Report& report) {
      return Copying(to, from, target).simulate(report);
    }};
const RegisteredCopier registered_copier(by_quantise);

}  // namespace
}  // namespace library

}  // namespace tw
