#include "src/cli/matmul_request.h"

#include <fmt/format.h>

#include <sstream>
#include <utility>

#include "src/matmul/gpu.h"

namespace tw::cli {

void MatmulRequest::add_options(CLI::App& command) {
  command.add_option("family", family, "the kernel family: matmul")->required();
  command.add_option("--arch", arch, "the target: sm90a")->capture_default_str();
  command.add_option("--m", m, "rows of A and D")->capture_default_str();
  command.add_option("--n", n, "rows of B, columns of D")->capture_default_str();
  command.add_option("--k", k, "columns of A and B")->capture_default_str();
  command.add_option("--alpha", alpha)->capture_default_str();
  command.add_option("--beta", beta, "0: no C")->capture_default_str();
  command.add_option("--epilogue", epilogue, "comma-separated: bias");
  command.add_option("--cluster", cluster, "CTAs along m x n: 1x1, 2x1 or 1x2")
      ->capture_default_str();
  command.add_option("--consumers", consumers, "cooperative or ping-pong")->capture_default_str();
  command.add_option("--tile", tile, "m x n of a CTA's tile; empty: the first that fits");
  command.add_option("--group", group, "tiles per raster group; 0: chosen")->capture_default_str();
  command.add_option("--raster", raster, "m or n")->capture_default_str();
  command.add_option("--seed", seed)->capture_default_str();
  command.add_option("--data", data, "integers (compared bit by bit) or normal")
      ->capture_default_str();
}

std::string MatmulRequest::command_line() const {
  std::string line = fmt::format(
      "./tw run {} --arch {} --m {} --n {} --k {} --alpha {} --beta {} --cluster {} --consumers {} "
      "--group {} --raster {} --seed {} --data {}",
      family, arch, m, n, k, alpha, beta, cluster, consumers, group, raster, seed, data);
  if (!epilogue.empty()) line += " --epilogue " + epilogue;
  if (!tile.empty()) line += " --tile " + tile;
  return line;
}

Result<MatmulTask> MatmulRequest::resolve(Tracing tracing) const {
  const auto refused = [](std::string sentence) {
    return Result<MatmulTask>{Status::refused(std::move(sentence)), std::nullopt};
  };
  MatmulTask task = {};
  if (family != "matmul") {
    return refused(fmt::format("There is no family '{}'; there is matmul.", family));
  }
  if (arch != "sm90a") {
    return refused(fmt::format("There is no target '{}'; there is sm90a.", arch));
  }
  const std::pair<const char*, std::int64_t> extents[] = {{"m", m}, {"n", n}, {"k", k}};
  for (const auto& [name, value] : extents) {
    if (value < 0 || value > 65536) {
      return refused(fmt::format("--{} is {}, but must be between 0 and 65536.", name, value));
    }
  }
  task.shape = {m, n, k, alpha, beta, false};
  std::stringstream nodes(epilogue);
  for (std::string node; std::getline(nodes, node, ',');) {
    if (node != "bias") {
      return refused(fmt::format("There is no epilogue '{}'; there is bias.", node));
    }
    task.shape.bias = true;
  }
  if (raster != "m" && raster != "n") {
    return refused(fmt::format("--raster is '{}', but must be m or n.", raster));
  }
  if (group < 0) return refused(fmt::format("--group is {}, but must be at least 0.", group));
  task.order = {group, raster == "m" ? Raster::AlongM : Raster::AlongN};
  if (data != "integers" && data != "normal") {
    return refused(fmt::format("--data is '{}', but must be integers or normal.", data));
  }
  task.fill = data == "integers" ? Fill::Integers : Fill::Normal;
  if (consumers != "cooperative" && consumers != "ping-pong") {
    return refused(
        fmt::format("--consumers is '{}', but must be cooperative or ping-pong.", consumers));
  }

  std::string known;
  for (const MatmulInstance& candidate : matmul_instances()) {
    const MatmulConfig& config = candidate.config;
    if (config.tracing != tracing) continue;
    const std::string its_cluster = fmt::format("{}x{}", config.cluster.m, config.cluster.n);
    const std::string its_tile = fmt::format("{}x{}", config.tile_m, config.tile_n);
    const char* its_consumers =
        config.consumers == Consumers::Cooperative ? "cooperative" : "ping-pong";
    known += fmt::format("\n  --tile {} --cluster {} --consumers {}", its_tile, its_cluster,
                         its_consumers);
    if (its_cluster == cluster && its_consumers == consumers &&
        (tile.empty() || tile == its_tile)) {
      task.instance = &candidate;
      return {Status::good(), task};
    }
  }
  return refused(
      fmt::format("No instance has --tile '{}' --cluster '{}' --consumers '{}'. There are:{}", tile,
                  cluster, consumers, known));
}

void add_on_option(CLI::App& command, std::string& on) {
  command.add_option("--on", on, "gpu or virtual; empty: the GPU when there is one");
}

Result<bool> runs_on_gpu(const std::string& on) {
  if (!on.empty() && on != "gpu" && on != "virtual") {
    return {Status::refused(fmt::format("--on is '{}', but must be gpu or virtual.", on)),
            std::nullopt};
  }
  const std::string no_gpu = why_no_gpu();
  if (on == "gpu" && !no_gpu.empty()) return {Status::refused(no_gpu), std::nullopt};
  return {Status::good(), on != "virtual" && no_gpu.empty()};
}

}  // namespace tw::cli
