#include "src/cli/shrink.h"

#include "src/cli/landing.h"
#include "src/matmul/names.h"

namespace tw::cli {

namespace {

class Shrinker {
 public:
  Shrinker(const FuzzCase& failing, const std::function<bool(const FuzzCase&)>& fails, int tries)
      : best_(failing), fails_(fails), tries_(tries) {}

  FuzzCase run() {
    do {
      progress_ = false;
      simplify_epilogue();
      simplify_order();
      lower([](FuzzCase & one) -> auto& { return one.task.shape.batch; });
      replace(
          [](FuzzCase & one) -> auto& { return one.task.shape.shared_b; }, false);
      replace(
          [](FuzzCase & one) -> auto& { return one.task.shape.unaligned; }, false);
      lower([](FuzzCase & one) -> auto& { return one.task.shape.m; });
      lower([](FuzzCase & one) -> auto& { return one.task.shape.n; });
      lower([](FuzzCase & one) -> auto& { return one.task.shape.k; });
      replace(
          [](FuzzCase & one) -> auto& { return one.task.fill; }, Fill::Integers);
      replace(
          [](FuzzCase & one) -> auto& { return one.task.seed; }, 1u);
      simplify_schedule();
    } while (progress_ && tries_ > 0);
    return best_;
  }

 private:
  // A gate needs pairs of columns.
  static void repair(FuzzCase& one) {
    if (one.task.shape.epilogue.gated) one.task.shape.n -= one.task.shape.n % 2;
  }

  bool accept(const FuzzCase& simpler) {
    if (tries_ <= 0) return false;
    --tries_;
    if (!fails_(simpler)) return false;
    best_ = simpler;
    progress_ = true;
    return true;
  }

  template <class Field, class Value>
  bool replace(const Field& field, const Value& value) {
    FuzzCase simpler = best_;
    const auto simple = static_cast<std::remove_cvref_t<decltype(field(simpler))>>(value);
    if (field(simpler) == simple) return false;
    field(simpler) = simple;
    repair(simpler);
    return accept(simpler);
  }

  // To 1 at once, or down by halves, quarters, ... to the smallest number that fails.
  template <class Field>
  void lower(const Field& field) {
    if (field(best_) <= 1 || replace(field, 1)) return;
    for (auto step = field(best_) / 2; step > 0;) {
      FuzzCase simpler = best_;
      if (field(simpler) > step) field(simpler) -= step;
      repair(simpler);
      const bool smaller = field(simpler) < field(best_);
      if (!smaller || !accept(simpler)) step /= 2;
    }
  }

  void simplify_epilogue() {
    const auto part = [](auto EpilogueShape::*field) {
      return [field](FuzzCase & one) -> auto& { return one.task.shape.epilogue.*field; };
    };
    for (const auto& [name, present] : epilogue_switches) replace(part(present), false);
    replace(part(&EpilogueShape::activation), Activation::None);
    replace(part(&EpilogueShape::alpha), 1.0f);
    replace(part(&EpilogueShape::beta), 0.0f);
    replace(part(&EpilogueShape::output_scale), 1.0f);
    for (const auto type :
         {&EpilogueShape::source_type, &EpilogueShape::bias_type, &EpilogueShape::auxiliary_type}) {
      replace(part(type), ElementType::Bf16);
    }
  }

  void simplify_order() {
    const auto part = [](auto MatmulOrder::*field) {
      return [field](FuzzCase & one) -> auto& { return one.task.order.*field; };
    };
    lower(part(&MatmulOrder::split_k));
    replace(part(&MatmulOrder::group), 0);
    replace(part(&MatmulOrder::raster), Raster::AlongM);
  }

  void simplify_schedule() {
    for (const auto& [name, landing] : landings) {
      if (landing == best_.schedule.landing) break;
      if (replace(
              [](FuzzCase & one) -> auto& { return one.schedule.landing; }, landing))
        break;
    }
    lower([](FuzzCase & one) -> auto& { return one.schedule.sm_count; });
    replace(
        [](FuzzCase & one) -> auto& { return one.schedule.seed; }, 1u);
  }

  FuzzCase best_;
  const std::function<bool(const FuzzCase&)>& fails_;
  int tries_;
  bool progress_ = false;
};

}  // namespace

FuzzCase shrink(const FuzzCase& failing, const std::function<bool(const FuzzCase&)>& fails,
                int tries) {
  return Shrinker(failing, fails, tries).run();
}

}  // namespace tw::cli
