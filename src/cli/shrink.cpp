#include "src/cli/shrink.h"

#include <bit>

#include "src/cli/landing.h"
#include "src/instances/names.h"
#include "src/verify/product.h"

namespace tw::cli {

namespace {

using Shrinker = CaseShrinker<ScheduledCase>;

void shrink_epilogue(Shrinker& shrinker, const ProductField& product) {
  const auto change = [&](const auto& simplify) {
    shrinker.attempt([&](ScheduledCase& one) {
      tw_epilogue& epilogue = product.epilogue_of(one.shape.problem.data());
      EpilogueShape shape = shape_of(epilogue);
      simplify(shape);
      set_epilogue(epilogue, shape);
    });
  };
  change([](EpilogueShape& shape) { shape = {}; });
  for (const auto& [name, present] : epilogue_switches) {
    change([present = present](EpilogueShape& shape) { shape.*present = false; });
  }
  change([](EpilogueShape& shape) { shape.activation = Activation::None; });
  change([](EpilogueShape& shape) { shape.beta = 0.0f; });
  change([](EpilogueShape& shape) { shape.alpha = shape.output_scale = 1.0f; });
  for (const auto type :
       {&EpilogueShape::source_type, &EpilogueShape::bias_type, &EpilogueShape::auxiliary_type}) {
    change([type](EpilogueShape& shape) { shape.*type = ElementType::Bf16; });
  }
}

void shrink_order(Shrinker& shrinker) {
  shrinker.reduce(
      [](ScheduledCase & one) -> auto& { return one.shape.order.split_k; }, 1);
  shrinker.attempt([](ScheduledCase& one) { one.shape.order.group = 0; });
  shrinker.attempt([](ScheduledCase& one) { one.shape.order.raster = Raster::AlongM; });
}

// Fewer, and smaller.
void shrink_list(Shrinker& shrinker, std::size_t list) {
  const auto change = [&](std::size_t index, const auto& simplify) {
    shrinker.attempt([&](ScheduledCase& one) {
      std::vector<std::int64_t>& values = one.shape.lists[list];
      if (index < values.size()) simplify(values, values[index]);
    });
  };
  for (std::size_t i = shrinker.best().shape.lists[list].size(); i-- > 0;) {
    change(i, [&](std::vector<std::int64_t>& values, std::int64_t&) {
      if (values.size() > 1) values.erase(values.begin() + static_cast<std::ptrdiff_t>(i));
    });
    for (const int part : {1, 2, 0}) {
      change(i, [&](std::vector<std::int64_t>&, std::int64_t& value) {
        if (value > 0) value -= part == 0 ? 1 : value / part;
      });
    }
  }
}

void shrink_tensor(Shrinker& shrinker, const TensorField& tensor) {
  const auto change = [&](const auto& simplify) {
    shrinker.attempt([&](ScheduledCase& one) {
      tw_matrix matrix = tensor.get(one.shape.problem.data());
      simplify(matrix);
      tensor.set(one.shape.problem.data(), matrix);
    });
  };
  change([&](tw_matrix& matrix) { matrix.column_stride = tensor.is_usually_by_rows() ? 1 : 0; });
  change([&](tw_matrix& matrix) { matrix.type = static_cast<tw_type>(tensor.types.usual); });
  if (tensor.optional) change([](tw_matrix& matrix) { matrix.data = nullptr; });
}

// To what the initialiser writes, to the least, or down by powers of two: a gate needs pairs.
void shrink_number(Shrinker& shrinker, const IntegerField& number) {
  if (number.kind == IntegerField::Kind::Derived) return;
  const auto value = [&] { return number.get(shrinker.best().shape.problem.data()); };
  const auto attempt = [&](std::int64_t next) {
    shrinker.attempt([&](ScheduledCase& one) { number.set(one.shape.problem.data(), next); });
    return value() == next;
  };
  const std::int64_t least = number.kind == IntegerField::Kind::Flag ? 0 : 1;
  if (value() <= least || attempt(std::max(number.initial, least)) || attempt(least)) return;
  for (auto step = std::bit_floor(static_cast<std::uint64_t>(value())); step > 0; step /= 2) {
    const std::int64_t next = value() - static_cast<std::int64_t>(step);
    if (next >= least) attempt(next);
  }
}

void shrink_schedule(Shrinker& shrinker) {
  for (const auto& [name, landing] : landings) {
    if (landing == shrinker.best().schedule.landing) break;
    shrinker.attempt([landing = landing](ScheduledCase& one) { one.schedule.landing = landing; });
    if (landing == shrinker.best().schedule.landing) break;
  }
  shrinker.reduce(
      [](ScheduledCase & one) -> auto& { return one.schedule.sm_count; }, 1);
  shrinker.attempt([](ScheduledCase& one) { one.schedule.seed = 1; });
}

}  // namespace

ScheduledCase shrink(const ScheduledCase& failing,
                     const std::function<bool(const ScheduledCase&)>& fails, int tries) {
  const auto still_fails = [&](ScheduledCase one) {
    return serves(one.shape).is_good() && fails(one);
  };
  const Description& description = *failing.shape.trial->description;
  return Shrinker(failing, still_fails, tries).shrink([&](Shrinker& shrinker) {
    shrinker.attempt([](ScheduledCase& one) { one.shape.fill = Fill::Integers; });
    shrinker.attempt([](ScheduledCase& one) { one.shape.seed = 1; });
    shrinker.attempt([](ScheduledCase& one) { one.shape.unaligned = false; });
    shrinker.attempt([](ScheduledCase& one) { one.shape.spacing = Spacing::Usual; });
    shrinker.attempt([](ScheduledCase& one) { one.shape.infinite = false; });
    shrinker.attempt([](ScheduledCase& one) { one.shape.unaligned_small = 0; });
    if (description.product != nullptr) {
      shrinker.attempt([](ScheduledCase& one) { one.shape.shared_b = false; });
      shrink_epilogue(shrinker, *description.product);
      shrink_order(shrinker);
    }
    for (std::size_t i = 0; i < description.lists.size(); ++i) shrink_list(shrinker, i);
    for (const TensorField& tensor : description.tensors) shrink_tensor(shrinker, tensor);
    for (const RealField& real : description.reals) {
      shrinker.attempt([&](ScheduledCase& one) { real.set(one.shape.problem.data(), real.usual); });
    }
    for (const IntegerField& number : description.numbers) shrink_number(shrinker, number);
    shrink_schedule(shrinker);
  });
}

}  // namespace tw::cli
