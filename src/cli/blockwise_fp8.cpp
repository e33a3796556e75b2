// ./tw run blockwise and ./tw check blockwise, on the virtual GPU.
#include <fmt/format.h>

#include <memory>
#include <sstream>

#include "src/blockwise_fp8/task.h"
#include "src/cli/command.h"
#include "src/cli/landing.h"
#include "src/matmul/names.h"

namespace tw::cli {

namespace {

struct BlockwiseRequest {
  std::string arch = "sm90a";
  std::string instance;
  std::string on;
  std::int64_t m = 200;
  std::int64_t n = 200;
  std::int64_t k = 500;
  std::int64_t batch = 1;
  int split_k = 1;
  std::string a_scales = "row";
  std::string b_scales = "row";
  bool unaligned_scales = false;
  std::string epilogue;
  std::string data = "integers";
  std::uint64_t seed = 1;
  ScheduleRequest schedule;
  unsigned schedules = 1;

  void add_options(CLI::App& command) {
    command.add_option("--arch", arch, "the target: sm80, sm90a or sm100a")->capture_default_str();
    command.add_option("--instance", instance, "by name; empty: the first of the target");
    command.add_option("--m", m, "rows of A and D")->capture_default_str();
    command.add_option("--n", n, "rows of B, columns of D")->capture_default_str();
    command.add_option("--k", k, "columns of A and B")->capture_default_str();
    command.add_option("--batch", batch, "products side by side")->capture_default_str();
    command.add_option("--split-k", split_k, "parts of each sum")->capture_default_str();
    command.add_option("--a-scales", a_scales, "row or column: what is contiguous")
        ->capture_default_str();
    command.add_option("--b-scales", b_scales, "row or column")->capture_default_str();
    command.add_flag("--unaligned-scales", unaligned_scales, "lines of scales off 16 bytes");
    command.add_option("--epilogue", epilogue,
                       "comma-separated: bias, gate, relu, residual and others, as of matmul");
    command.add_option("--data", data, "integers or position (exact), or normal")
        ->capture_default_str();
    command.add_option("--seed", seed)->capture_default_str();
    schedule.add_options(command);
  }

  Result<const BlockwiseInstance*> choose() const {
    std::string known;
    for (const BlockwiseInstance& candidate : blockwise_instances()) {
      if (instance.empty() ? arch == candidate.target : instance == candidate.name) {
        return {Status::good(), &candidate};
      }
      known += fmt::format(" {} ({})", candidate.name, candidate.target);
    }
    return {Status::refused("There is no such instance of blockwise; there are" + known + "."),
            std::nullopt};
  }

  static bool add_node(EpilogueShape& shape, const std::string& node) {
    for (const auto& [name, present] : epilogue_switches) {
      if (node == name) return shape.*present = true;
    }
    for (const Activation activation : activations) {
      if (activation == Activation::Clamp || node != name_of(activation)) continue;
      shape.activation = activation;
      return true;
    }
    if (node == "residual") shape.beta = 1.0f;
    return node == "residual";
  }

  // A sentence, or empty.
  std::string fill_shape(BlockwiseShape& shape) const {
    for (const auto& [name, value] : {std::pair("m", m), {"n", n}, {"k", k}, {"batch", batch}}) {
      if (value < 0 || value > 65536) {
        return fmt::format("--{} is {}, but must be between 0 and 65536.", name, value);
      }
    }
    shape.matmul.m = m;
    shape.matmul.n = n;
    shape.matmul.k = k;
    shape.matmul.batch = batch;
    for (const auto& [name, word, major] :
         {std::tuple("a", &a_scales, &shape.a_scales), {"b", &b_scales, &shape.b_scales}}) {
      if (*word != "row" && *word != "column") {
        return fmt::format("--{}-scales is '{}', but must be row or column.", name, *word);
      }
      *major = *word == "row" ? Major::K : Major::MN;
    }
    shape.unaligned_scales = unaligned_scales;
    std::stringstream nodes(epilogue);
    for (std::string node; std::getline(nodes, node, ',');) {
      if (!add_node(shape.matmul.epilogue, node)) {
        return fmt::format("There is no epilogue '{}' here.", node);
      }
    }
    return "";
  }
};

void run(const BlockwiseRequest& request, Verdict& verdict) {
  const Result<const BlockwiseInstance*> chosen = request.choose();
  if (!chosen.status.is_good()) return verdict.refuse(chosen.status.sentence());
  const BlockwiseInstance& instance = **chosen.value;
  BlockwiseShape shape = shape_for(instance);
  const std::string wrong = request.fill_shape(shape);
  if (!wrong.empty()) return verdict.refuse(wrong);
  const auto fill = fill_of(request.data);
  if (!fill) {
    return verdict.refuse(
        fmt::format("--data is '{}', but must be integers, normal or position.", request.data));
  }
  const Result<vgpu::Options> schedule = request.schedule.resolve();
  if (!schedule.status.is_good()) return verdict.refuse(schedule.status.sentence());
  MatmulOrder order;
  order.split_k = request.split_k;

  const VerifiedBlockwise problem(shape, *fill, request.seed);
  std::string first_complaint;
  unsigned clean = 0;
  Comparison comparison;
  for (unsigned i = 0; i < request.schedules; ++i) {
    vgpu::Options options = *schedule.value;
    if (request.schedules > 1) options.landing = landings[i % std::size(landings)].second;
    options.seed += i;
    const VirtualRun ran = run_virtually(instance, order, problem, options);
    if (!ran.status.is_good()) return verdict.refuse(ran.status.sentence());
    comparison = ran.comparison;
    if (ran.clean()) {
      ++clean;
    } else if (first_complaint.empty()) {
      first_complaint = fmt::format("{}replay: {}{}\n", ran.complaint(),
                                    run_line(instance, order, shape, *fill, request.seed),
                                    schedule_words(options));
    }
  }
  fmt::print("blockwise {} x {} x {}, {} ({} stages) on the virtual GPU: ", request.m, request.n,
             request.k, instance.name, instance.stages);
  if (request.schedules > 1) {
    fmt::print("{} of {} schedules are clean\n", clean, request.schedules);
  } else if (clean == 0) {
    fmt::print("wrong, or findings\n");
  } else if (comparison.exact) {
    fmt::print("all {} elements are exact\n", shape.matmul.outputs());
  } else {
    fmt::print("the worst error is {:.2f} of its bound\n", comparison.worst);
  }
  fmt::print("{}", first_complaint);
  verdict.status = clean == request.schedules ? 0 : 1;
}

// Below ./tw run or ./tw check.
CLI::App* add_family(CLI::App& command, const std::shared_ptr<BlockwiseRequest>& request,
                     Verdict& verdict) {
  CLI::App* family = command.add_subcommand("blockwise", "FP8 with scales of blocks of 128");
  request->add_options(*family);
  family->callback([request, &verdict] { run(*request, verdict); });
  return family;
}

}  // namespace

void add_run_blockwise(CLI::App& command, Verdict& verdict) {
  auto request = std::make_shared<BlockwiseRequest>();
  CLI::App* family = add_family(command, request, verdict);
  family->add_option("--on", request->on, "virtual, the only place so far")
      ->check(CLI::IsMember({"virtual"}));
}

void add_check_blockwise(CLI::App& command, Verdict& verdict) {
  auto request = std::make_shared<BlockwiseRequest>();
  request->schedules = 40;
  CLI::App* family = add_family(command, request, verdict);
  family->add_option("--schedules", request->schedules, "how many")
      ->check(CLI::Range(2, 1000000))
      ->capture_default_str();
}

}  // namespace tw::cli
