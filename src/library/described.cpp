#include "src/library/described.h"

#include <fmt/format.h>

#include <cstring>

#include "src/library/apart.h"
#include "src/library/checks.h"
#include "src/library/copier.h"
#include "src/library/environment.h"
#include "src/library/failure.h"

namespace tw::library {

const Copier*& copier() {
  static const Copier* one = nullptr;
  return one;
}

Rewritten::Rewritten(const Checked& given) : given_(given), stated_(&given) {}
const Checked& Rewritten::given() const { return given_; }
const Checked& Rewritten::stated() const { return *stated_; }
const Status& Rewritten::status() const { return status_; }
std::size_t Rewritten::copied_bytes() const { return bytes_; }
std::span<const Rewritten::Copy> Rewritten::copies() const { return {copies_, num_copies_}; }

const TensorLines& Rewritten::add_copy(const char* title, const TensorLines& from,
                                       std::byte* memory) {
  Copy& copy = copies_[num_copies_++];
  copy = {title, from, from};
  TensorLines& to = copy.to;
  const std::int64_t unit = 128 / bytes_of(to.type);
  to.pitch = (to.length + unit - 1) / unit * unit;
  const bool is_shared = to.batch_pitch == 0;
  to.batch = copy.from.batch = is_shared ? 1 : to.batch;
  to.batch_pitch = is_shared ? 0 : to.lines * to.pitch;
  to.data = memory + bytes_;
  const auto bytes = static_cast<std::size_t>(to.batch * to.lines * to.pitch) * bytes_of(to.type);
  bytes_ += round_up(bytes, alignment);
  return to;
}

void Rewritten::state(const Description& description, const tw_matmul_problem& product) {
  product_ = product;
  status_ = check(own_, description, &product_);
  stated_ = &own_;
}

DispatchRequest request_of(const tw_options& options, const Device& device) {
  DispatchRequest request;
  request.target = device.target;
  request.capability = device.capability;
  request.sms = device.sms;
  request.cycles_per_us = device.cycles_per_us;
  request.bytes_per_us = device.bytes_per_us;
  request.device = device.name;
  request.own_table = own_table(device);
  request.batch_invariant = options.batch_invariant != 0;
  request.fast_accumulation = options.fast_accumulation != 0;
  request.instance = options.instance;
  request.workspace_limit = options.workspace_limit;
  return request;
}

void initialise(const Description& description, void* problem) {
  for (const IntegerField& number : description.numbers) number.set(problem, number.initial);
  for (const RealField& real : description.reals) real.set(problem, real.usual);
  for (const TensorField& tensor : description.tensors) {
    tensor.set(problem, {nullptr, 0, 0, 0, static_cast<tw_type>(tensor.types.usual)});
  }
  if (description.product != nullptr) description.product->initialise(problem);
}

Checked checked(const Description& description, const void* problem) {
  Checked result;
  const Status status = check(result, description, problem);
  if (!status.is_good()) throw Failure{TW_INVALID, status.sentence()};
  check_apart(result);
  return result;
}

std::vector<std::size_t> address_words(const Description& description) {
  // They are what differs where nothing but addresses does.
  constexpr std::size_t word = sizeof(std::uint64_t);
  const auto with_addresses = [&description](std::uintptr_t bits) {
    std::vector<std::uint64_t> problem(description.size / word);
    void* const address = reinterpret_cast<void*>(bits);
    for (const TensorField& tensor : description.tensors) {
      tensor.set(problem.data(), {address, 0, 0, 0, TW_BF16});
    }
    if (description.product != nullptr) {
      tw_epilogue& epilogue = description.product->epilogue_of(problem.data());
      epilogue.source.data = epilogue.auxiliary.data = address;
      epilogue.column_bias = epilogue.row_bias = address;
      epilogue.column_scale = epilogue.row_scale = epilogue.amax = static_cast<float*>(address);
    }
    return problem;
  };
  const std::vector<std::uint64_t> one = with_addresses(word), other = with_addresses(2 * word);
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < one.size(); ++i) {
    if (one[i] != other[i]) found.push_back(i);
  }
  return found;
}

Choice first_that_serves(const Checked& problem, std::span<const Instance> instances,
                         const DispatchRequest& request) {
  std::string sentence = "There is none for this device.";
  unsigned fewest = 0;  // obstacles; those of the nearest
  for (const Instance& instance : instances) {
    if (request.instance != nullptr && std::strcmp(instance.name, request.instance) != 0) continue;
    if (!runs_on(instance.target, request.target, instance.capability_end)) continue;
    const Status status = instance.supports(problem, {});
    if (status.is_good()) return {{&instance, {}}};
    if (fewest != 0 && status.obstacles() >= fewest) continue;
    sentence = fmt::format("The nearest, {}: {}", instance.name, status.sentence());
    fewest = status.obstacles();
  }
  throw Failure{TW_UNSUPPORTED, fmt::format("No compiled kernel {} on {}. {}",
                                            problem.description().does, request.target, sentence)};
}

namespace {

Status not_compiled(const Instance& instance) {
  return Status::refused(fmt::format(
      "The kernel {} is not compiled for a GPU in this build, which has some alone (TW_COMPILED).",
      instance.name));
}

}  // namespace

Status ask_workspace_of(std::size_t& bytes, const Checked& problem, const Choice& choice) {
  if (choice.instance->workspace == nullptr) return not_compiled(*choice.instance);
  return choice.instance->workspace(bytes, problem, {choice.order});
}

Status launch_kernel(const Checked& problem, const Choice& choice, const Workspace& workspace,
                     void* stream) {
  if (choice.instance->launch == nullptr) return not_compiled(*choice.instance);
  return choice.instance->launch(problem, {choice.order, workspace, {}}, stream);
}

Status ask(Choice& choice, const Checked& problem, const DispatchRequest& request, Choose choose) {
  std::vector<LaunchRejection> rejections;
  const Status status = choose(choice, problem, request, &rejections);
  if (logs_dispatch()) {
    const Description& description = problem.description();
    std::string title = description.name;
    for (const IntegerField& number : description.numbers) {
      title += fmt::format(" {} {}", number.name, number.get(problem.problem()));
    }
    log_dispatch(title, rejections, status, choice);
  }
  return status;
}

Choice chosen(const Checked& problem, const DispatchRequest& request, Choose choose) {
  Choice choice;
  const Status status = ask(choice, problem, request, choose);
  if (!status.is_good()) throw Failure{TW_UNSUPPORTED, status.sentence()};
  return choice;
}

}  // namespace tw::library
