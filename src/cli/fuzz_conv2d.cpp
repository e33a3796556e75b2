#include "src/cli/fuzz_conv2d.h"

#include "src/conv2d/random_shape.h"

namespace tw::cli {

namespace {

struct Case {
  const Conv2dInstance* instance;
  Conv2dShape shape;
  Fill fill;
  std::uint64_t seed;
  MatmulOrder order;
  vgpu::Options schedule;
};

Case random_case(const Conv2dInstance& instance, std::mt19937_64& random) {
  const Fill fills[] = {Fill::Integers, Fill::Integers, Fill::Position, Fill::Normal};
  const Conv2dShape shape = conv2d::random_shape(instance, random);
  const Fill fill = fills[random() % std::size(fills)];
  return {&instance,
          shape,
          fill,
          random() % 1000000,
          conv2d::order_for(instance, random()),
          random_schedule(instance.config.tiling.cluster.size(), random)};
}

Outcome judge(const Case& one) {
  const VerifiedConv2d problem(one.shape, one.fill, one.seed);
  const VirtualRun run = run_virtually(*one.instance, one.order, problem, one.schedule);
  return {run.status, run.complaint()};
}

std::string line_of(const Case& one) {
  return run_line(*one.instance, one.shape, one.fill, one.seed, one.order) +
         schedule_words(one.schedule);
}

Case shrink(const Case& failing) {
  const auto fails = [](const Case& one) {
    return supports(*one.instance, one.shape).is_good() && judge(one).failed();
  };
  return CaseShrinker<Case>(failing, fails).shrink([](CaseShrinker<Case>& shrinker) {
    shrinker.attempt([](Case& one) { one.shape.epilogue = {}; });
    shrinker.attempt([](Case& one) {
      if (one.instance->depthwise) one.shape.groups = one.shape.k = one.shape.c /= 2;
    });
    for (std::int64_t Conv2dShape::*number :
         {&Conv2dShape::n, &Conv2dShape::groups, &Conv2dShape::c, &Conv2dShape::k}) {
      shrinker.reduce([&](Case& one) -> std::int64_t& { return one.shape.*number; }, 1);
    }
    for (Conv2dAxis Conv2dShape::*axis : {&Conv2dShape::h, &Conv2dShape::w, &Conv2dShape::depth}) {
      for (std::int64_t Conv2dAxis::*field :
           {&Conv2dAxis::filter, &Conv2dAxis::stride, &Conv2dAxis::dilation, &Conv2dAxis::extent,
            &Conv2dAxis::pad_low, &Conv2dAxis::pad_high}) {
        const bool padding = field == &Conv2dAxis::pad_low || field == &Conv2dAxis::pad_high;
        shrinker.attempt([&](Case& one) { one.shape.*axis.*field = padding ? 0 : 1; });
      }
      shrinker.attempt([&](Case& one) {
        std::int64_t& extent = (one.shape.*axis).extent;
        if (extent > 1) extent -= 1;
      });
    }
  });
}

}  // namespace

void add_conv2d_cases(std::vector<CaseMaker>& makers, const std::string& arch,
                      const std::string& instance) {
  add_cases(makers, conv2d_instances(), arch, instance, random_case);
}

}  // namespace tw::cli
