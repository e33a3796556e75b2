// tilewright_predict: what products should take on a card of each target, before one was there, and
// how far the same model is off where one was. No measured efficiency is used; needs no GPU.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "src/bench/fit/fit_data.h"
#include "src/dispatch/choose_launch.h"
#include "src/dispatch/cost.h"
#include "src/instances/names.h"
#include "src/program.h"
#include "tilewright/family/matmul/family.h"

namespace tw::bench {

namespace {

struct Card {
  const char* name;
  const TargetFacts* target;
  unsigned sms;
  double cycles_per_us, bytes_per_us;
  bool has_e4m3;
};
constexpr Card cards[] = {
    {"A100 SXM", &target::sm80, 108, 1410, 2.039e6, false},
    {"H200", &target::sm90a, 132, 1980, 4.917e6, true},
    {"B200", &target::sm100a, 148, 1850, 8.0e6, true},
    {"MI300X", &target::gfx942, 304, 2100, 5.3e6, true},
    {"MI355X", &target::gfx950, 256, 2400, 8.0e6, true},
};

struct Shape {
  ElementType type;
  std::int64_t m, n, k;
};
constexpr Shape shapes[] = {
    {ElementType::Bf16, 1, 4096, 4096},     {ElementType::Bf16, 16, 8192, 8192},
    {ElementType::Bf16, 64, 4096, 14336},   {ElementType::Bf16, 256, 4096, 4096},
    {ElementType::Bf16, 512, 14336, 4096},  {ElementType::Bf16, 1024, 4096, 14336},
    {ElementType::Bf16, 3000, 3000, 3000},  {ElementType::Bf16, 8192, 8192, 8192},
    {ElementType::Bf16, 16384, 6144, 1408}, {ElementType::E4m3, 16, 8192, 8192},
    {ElementType::E4m3, 1024, 4096, 14336}, {ElementType::E4m3, 8192, 8192, 8192},
};

// No launch is shorter: products at the peak of all SMs, each byte once.
double bound_us(const Machine& machine, const Shape& shape) {
  const double m = static_cast<double>(shape.m), n = static_cast<double>(shape.n),
               k = static_cast<double>(shape.k), element = bytes_of(shape.type);
  const double products = m * n * k * element / 128 /
                          (machine.products_per_cycle * machine.cycles_per_us * machine.sms);
  return std::max(products, (element * (m * k + n * k) + 2 * m * n) / machine.bytes_per_us);
}

tw_matmul_problem problem_of(const Shape& shape) {
  static char memory;  // nobody reads it: only its alignment matters
  void* const anywhere = &memory - reinterpret_cast<std::uintptr_t>(&memory) % 4096;
  tw_matmul_problem problem{};
  for (const IntegerField& number : MatmulFamily::description.numbers) {
    number.set(&problem, number.initial);
  }
  for (const RealField& real : MatmulFamily::description.reals) real.set(&problem, real.usual);
  MatmulFamily::description.product->initialise(&problem);
  problem.m = shape.m, problem.n = shape.n, problem.k = shape.k;
  const auto type = static_cast<tw_type>(shape.type);
  problem.a = {anywhere, shape.k, 1, 0, type};
  problem.b = {anywhere, 1, shape.k, 0, type};
  problem.d = {anywhere, shape.n, 1, 0, shape.type == ElementType::Fp16 ? type : TW_BF16};
  return problem;
}

void predict(const Card& card, const Shape& shape) {
  const tw_matmul_problem stated = problem_of(shape);
  Checked problem;
  const Status status = check(problem, MatmulFamily::description, &stated);
  if (!status.is_good()) throw std::runtime_error(status.sentence());
  const DispatchRequest request = {.target = card.target->name,
                                   .sms = card.sms,
                                   .cycles_per_us = card.cycles_per_us,
                                   .bytes_per_us = card.bytes_per_us};
  const Machine machine = machine_of(request);
  const Choice* taken = nullptr;
  Price least{};
  const std::vector<Choice> all = candidates(problem, request, nullptr);
  for (const Choice& one : all) {
    const Price price = price_of(kernel_facts(*one.instance), one.instance->take(problem).product,
                                 one.order, machine, Situation::Amid);
    if (taken != nullptr &&
        price.microseconds(usual_efficiency) >= least.microseconds(usual_efficiency)) {
      continue;
    }
    taken = &one, least = price;
  }
  if (taken == nullptr) throw std::runtime_error(fmt::format("{} has no kernel.", card.name));
  const double time = least.microseconds(usual_efficiency), busy = least.busy_us / usual_efficiency;
  const char* const limit = least.fixed_us > time / 2 ? "start and end"
                            : busy > least.memory_us  ? "SMs"
                                                      : "memory";
  const std::string parts =
      taken->order.split_k > 1 ? fmt::format(", {} parts", taken->order.split_k) : "";
  std::puts(fmt::format("| {} | {} | {} x {} x {} | {:.1f} | {:.1f} | {:.0f} | {} | `{}`{} |",
                        card.name, name_of(shape.type), shape.m, shape.n, shape.k,
                        bound_us(machine, shape), time,
                        2e-6 * double(shape.m) * double(shape.n) * double(shape.k) / time, limit,
                        taken->instance->name, parts)
                .c_str());
}

double share_of(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
}

void judge(const std::vector<FitShape>& measured) {
  std::puts("| launches | shapes | median error | nine of ten below |\n|---|---|---|---|");
  for (const Situation situation : {Situation::Following, Situation::Amid}) {
    for (const bool is_long : {false, true}) {
      std::vector<double> errors;
      for (const FitShape& shape : measured) {
        if (shape.situation != situation) continue;
        for (const MeasuredKernel& one : shape.launches) {
          if ((one.microseconds >= 20) != is_long) continue;
          const KernelFacts& facts = one.kernel->facts;
          const MatmulProblem product = product_of(facts.config.tiling, shape.problem);
          const Price price = price_of(facts, product, one.order, Machine{}, situation);
          errors.push_back(std::abs(price.microseconds(usual_efficiency) / one.microseconds - 1));
        }
      }
      if (errors.empty()) continue;
      std::puts(
          fmt::format("| {}, {} 20 us | {} | {:.1f} % | {:.0f} % |",
                      situation == Situation::Amid ? "amid foreign kernels" : "behind each other",
                      is_long ? "from" : "below", errors.size(), 100 * share_of(errors, 0.5),
                      100 * share_of(errors, 0.9))
              .c_str());
    }
  }
}

int run(int argc, char** argv) {
  std::vector<std::string> tables;
  CLI::App app{"What products should take on a card of each target", "tilewright_predict"};
  app.add_option("--judge", tables, "tables of ./tw bench --csv FILE on an H200: how far off");
  CLI11_PARSE(app, argc, argv);
  if (tables.empty()) {
    std::puts("| card | type | m x n x k | bound us | predicted us | TFLOP/s | limit | kernel |");
    std::puts("|---|---|---|---|---|---|---|---|");
    for (const Card& card : cards) {
      for (Shape shape : shapes) {
        if (shape.type == ElementType::E4m3 && !card.has_e4m3) shape.type = ElementType::Fp16;
        predict(card, shape);
      }
    }
    return 0;
  }
  const std::vector<KnownKernel> kernels = known_kernels();
  std::vector<FitShape> measured;
  for (const std::string& path : tables) {
    const Status status = read_measurements(measured, path, kernels, {}, 1);
    if (status.is_good()) continue;
    std::fprintf(stderr, "%s\n", status.sentence().c_str());
    return 2;
  }
  judge(measured);
  return 0;
}

}  // namespace

}  // namespace tw::bench

int main(int argc, char** argv) {
  return tw::run_program([&] { return tw::bench::run(argc, argv); });
}
