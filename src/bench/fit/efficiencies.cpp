#include "src/bench/fit/efficiencies.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <set>
#include <sstream>

namespace tw::bench {

namespace {

// Kernels whose efficiencies resemble each other: what they multiply by, and what they read.
auto likeness(const KnownKernel& kernel) {
  const KernelFacts& facts = kernel.facts;
  const Tiling& tiling = facts.config.tiling;
  return std::tuple(std::string(facts.target), facts.by_threads, facts.by_warps, facts.scales_sums,
                    tiling.swap_ab, bytes_of(tiling.a_type));
}

}  // namespace

Efficiencies known_efficiencies(const std::vector<KnownKernel>& kernels) {
  Efficiencies found;
  for (const KnownKernel& one : kernels) found[&one] = one.facts.efficiency;
  return found;
}

Efficiencies usual_efficiencies(const std::vector<FitShape>& shapes) {
  Efficiencies found;
  for (const FitShape& shape : shapes) {
    for (const MeasuredKernel& one : shape.launches) found[one.kernel] = usual_efficiency;
  }
  return found;
}

void move(Efficiencies& efficiencies, const std::map<const KnownKernel*, Slope>& slopes,
          double held) {
  constexpr double most_weight = 10, least = 0.02;
  struct Mean {
    double sum = 0, weight = 0;
  };
  std::map<decltype(likeness(std::declval<const KnownKernel&>())), Mean> means;
  for (const auto& [kernel, slope] : slopes) {
    Mean& mean = means[likeness(*kernel)];
    const double weight = std::min(slope.change, most_weight);
    mean.sum += weight * std::log(efficiencies.at(kernel));
    mean.weight += weight;
  }
  for (const auto& [kernel, slope] : slopes) {
    const Mean& mean = means[likeness(*kernel)];
    double& efficiency = efficiencies.at(kernel);
    const double now = std::log(efficiency);
    const double to_mean = mean.weight > 0 ? held * (mean.sum / mean.weight - now) : 0;
    const double step = (slope.off + to_mean) / (slope.change + held);
    efficiency = std::exp(std::clamp(now + step, std::log(least), 0.0));
  }
}

Status write_efficiencies(const std::string& folder, const std::vector<FitShape>& shapes,
                          const Efficiencies& efficiencies) {
  std::map<std::string, std::map<std::string, std::string>> texts;
  for (const FitShape& shape : shapes) {
    for (const MeasuredKernel& one : shape.launches) {
      texts[one.kernel->family][one.kernel->name] =
          fmt::format("{:.3g}", efficiencies.at(one.kernel));
    }
  }
  for (const auto& [family, kernels] : texts) {
    const std::string path = fmt::format("{}/{}/instances.txt", folder, family);
    std::ifstream file(path);
    if (!file) return Status::refused(fmt::format("'{}' cannot be read.", path));
    std::string head, line, written;
    std::getline(file, head);
    const auto fields = std::count(head.begin(), head.end(), '|') + 1;
    const std::string names = fmt::format("|{}|", head.substr(head.rfind(' ') + 1));
    const auto name_at = std::count(
        names.begin(), names.begin() + static_cast<std::ptrdiff_t>(names.find("|NAME|")), '|');
    written = head + "\n";
    while (std::getline(file, line)) {
      std::vector<std::string> cells;
      std::stringstream stream(line);
      for (std::string cell; std::getline(stream, cell, '|');) cells.push_back(cell);
      const auto count = static_cast<std::ptrdiff_t>(cells.size());
      const bool is_kernel = !line.starts_with("#") && count > name_at && count >= fields;
      const auto known =
          is_kernel ? kernels.find(cells[static_cast<std::size_t>(name_at)]) : kernels.end();
      if (known != kernels.end()) {
        if (count > fields) line.resize(line.rfind('|'));
        line += fmt::format("|{}", known->second);
      }
      written += line + "\n";
    }
    std::ofstream(path) << written;
  }
  return Status::good();
}

}  // namespace tw::bench
