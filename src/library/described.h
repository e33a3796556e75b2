// What the functions of tilewright.h ask of a family that is described.
#pragma once

#include <cstring>

#include "src/dispatch/dispatcher.h"
#include "src/dispatch/products.h"
#include "src/instances/instance.h"
#include "src/instances/run_line.h"
#include "src/library/apart.h"
#include "src/library/calls.h"

namespace tw::library {

// Sets what is not zero in a problem of zeros, but for its size and family.
void initialise(const Description& description, void* problem);

// Keeps its description, and no two tensors overlap of which one is written; or throws.
Checked checked(const Description& description, const void* problem);
// No two tensors overlap of which one is written; or throws.
void check_apart(const Checked& problem);

// The words of 8 bytes in which a problem has addresses.
std::vector<std::size_t> address_words(const Description& description);

using DescribedChoice = LaunchChoice<Instance>;
// Which kernel takes a problem, and in which order.
using Choose = decltype(Dispatcher::choose);

// The first kernel of the device that takes the problem; or throws.
DescribedChoice first_that_serves(const Checked& problem, std::span<const Instance> instances,
                                  const DispatchRequest& request);
// What the dispatcher says, which the log may show; and the same, or throws.
Status ask(DescribedChoice& choice, const Checked& problem, const DispatchRequest& request,
           Choose choose);
DescribedChoice chosen(const Checked& problem, const DispatchRequest& request, Choose choose);

// Refuses an instance that this build (TW_COMPILED=some) has no image for.
Status not_compiled(const Instance& instance);

std::string command_of(const Checked& problem, const DescribedChoice& choice, const char* on);

constexpr std::size_t count_epilogue_words() {
  std::size_t count = 0;
  epilogue_words({}, [&count](const char*, const char*, std::int64_t) { ++count; });
  return count;
}

// `Family` has a description; `all` are its instances, of which the first that serves is taken.
template <class Family, std::span<const Instance> (*all)()>
struct DescribedFamily {
  static constexpr const char* name = Family::description.name;
  static constexpr const Description& description = Family::description;
  static auto instances() { return all(); }
  using Given = typename Family::Problem;
  using Problem = Checked;
  using Choice = DescribedChoice;
  static constexpr bool multiplies = requires { Family::product; };
  static constexpr const Dispatcher* dispatcher() { return nullptr; }

  static constexpr std::size_t word_count = Family::description.numbers.size() +
                                            5 * Family::description.tensors.size() +
                                            (multiplies ? count_epilogue_words() : 0);
  template <class Visit>
  static void words(const Given& given, const Visit& visit) {
    for (const IntegerField& number : Family::description.numbers) {
      const bool is_flag = number.kind == IntegerField::Kind::Flag;
      const std::int64_t value = number.get(&given);
      visit(number.name, nullptr, is_flag ? value != 0 : value);
    }
    for (const TensorField& tensor : Family::description.tensors) {
      matrix_words(tensor.title, tensor.get(&given), detail::is_present(tensor, &given), visit);
    }
    if constexpr (multiplies) epilogue_words(Family::product.epilogue(&given), visit);
  }

  static void initialise(Given& given) { library::initialise(description, &given); }
  static Problem convert(const Given* given) {
    static const std::string initialiser = std::string("tw_") + name + "_init";
    check_struct("problem", given, initialiser.c_str());
    return checked(Family::description, given);
  }
  static const std::vector<std::size_t>& addresses() {
    static const auto& words = *new std::vector<std::size_t>(address_words(description));
    return words;
  }
  static void move(Problem& problem, const Given& given) {
    problem.move_to(&given);
    check_apart(problem);
  }
  static Choice decide(const Problem& problem, const DispatchRequest& request) {
    return first_that_serves(problem, all(), request);
  }
  static const Problem& stated(const Problem& problem, const Choice&) { return problem; }
  static std::string command(const Problem& problem, const Choice& choice, const char* on) {
    return command_of(problem, choice, on);
  }
  static Status workspace(std::size_t& bytes, const Problem& problem, const Choice& choice) {
    if (choice.instance->workspace == nullptr) return not_compiled(*choice.instance);
    return choice.instance->workspace(bytes, problem, {choice.order});
  }
  static Status launch(const Problem& problem, const Choice& choice, const Workspace& workspace,
                       void* stream) {
    if (choice.instance->launch == nullptr) return not_compiled(*choice.instance);
    return choice.instance->launch(problem, {choice.order, workspace, {}}, stream);
  }
  static Status simulate(const Problem& problem, const Choice& choice, vgpu::Report& report) {
    return choice.instance->simulate(problem, {choice.order}, {}, report);
  }
};

// The dispatcher chooses.
template <class Family, std::span<const Instance> (*all)(), Choose choose>
struct DispatchedFamily : DescribedFamily<Family, all> {
  static DescribedChoice decide(const Checked& problem, const DispatchRequest& request) {
    return chosen(problem, request, choose);
  }
};

// The product whose cost is asked for: a family may state another than its own.
template <class Family>
MatmulProblem priced_product(const Checked& problem) {
  MatmulProblem product = problem.product();
  if constexpr (requires { &Family::priced; }) {
    const TensorExtents sums = Family::priced(problem.as<typename Family::Problem>());
    product.batch = sums.batch;
    product.m = sums.rows;
    product.n = sums.columns;
  }
  return product;
}

// Products are chosen by their cost.
template <class Family, std::span<const Instance> (*all)()>
struct PricedFamily
    : DispatchedFamily<Family, all, choose_product<all, priced_product<Family>>> {
  static constexpr const Dispatcher* dispatcher() { return &by_cost; }

 private:
  using Products = DescribedProducts<all, priced_product<Family>>;
  static constexpr Dispatcher by_cost = {launches_of<Products, Checked, Instance>,
                                         choose_product<all, priced_product<Family>>};
};

// A family without a file of its own, src/families/NAME_call.cpp: by cost where it multiplies.
template <class Family, std::span<const Instance> (*all)()>
using UsualFamily =
    std::conditional_t<DescribedFamily<Family, all>::multiplies, PricedFamily<Family, all>,
                       DescribedFamily<Family, all>>;

}  // namespace tw::library
