#include "src/bench/fit/fit_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "src/dispatch/choose_launch.h"
#include "src/instances/names.h"
#include "src/verify/trials.h"

namespace tw {

namespace bench {

namespace {

std::vector<std::string> cells(std::string line) {
  while (!line.empty() && line.back() == '\r') line.pop_back();
  std::vector<std::string> found;
  std::stringstream stream(line);
  for (std::string cell; std::getline(stream, cell, ',');) found.push_back(cell);
  return found;
}

const KnownKernel* find(const std::vector<KnownKernel>& kernels, const std::string& family,
                        const std::string& name) {
  const auto found = std::find_if(kernels.begin(), kernels.end(), [&](const KnownKernel& one) {
    return one.family == family && one.name == name;
  });
  return found == kernels.end() ? nullptr : &*found;
}

}  // namespace

std::vector<KnownKernel> known_kernels() {
  std::vector<KnownKernel> kernels;
  for (const Trial* trial : all_trials()) {
    if (!trial->description->is_tuned) continue;
    for (const Instance& one : trial->instances()) {
      kernels.push_back({trial->description->name, one.name, kernel_facts(one)});
    }
  }
  return kernels;
}

Status read_origins(Origins& origins, const std::string& suite) {
  std::ifstream file(suite);
  if (!file) return Status::refused(fmt::format("The suite '{}' cannot be read.", suite));
  try {
    const auto json = nlohmann::json::parse(file);
    for (const auto& shape : json.at("shapes")) {
      const std::string from = shape.at("from");
      origins[{json.at("family"), json.value("a", "e4m3"), shape.at("m"), shape.at("n"),
               shape.at("k")}] = from.substr(0, from.find(' '));
    }
  } catch (const nlohmann::json::exception& error) {
    return Status::refused(
        fmt::format("The suite '{}' has no shapes with origins: {}.", suite, error.what()));
  }
  return Status::good();
}

Status read_measurements(std::vector<FitShape>& shapes, const std::string& path,
                         const std::vector<KnownKernel>& kernels, const Origins& origins,
                         double weight) {
  std::ifstream file(path);
  std::string line;
  // Lines that describe the run precede the table.
  while (std::getline(file, line) && line.starts_with("#")) {
  }
  if (line.empty()) {
    return Status::refused(fmt::format("'{}' cannot be read, or is empty.", path));
  }
  const std::vector<std::string> head = cells(line);
  for (const char* needed : {"type", "m", "n", "k", "kernel", "us"}) {
    if (std::find(head.begin(), head.end(), needed) == head.end()) {
      return Status::refused(fmt::format("'{}' has no column {}.", path, needed));
    }
  }
  std::map<std::pair<std::string, Situation>, std::size_t> places;
  while (std::getline(file, line)) {
    const std::vector<std::string> row = cells(line);
    const auto cell = [&](const char* name) -> std::string {
      const auto column = std::find(head.begin(), head.end(), name) - head.begin();
      return static_cast<std::size_t>(column) < row.size() ? row[static_cast<std::size_t>(column)]
                                                           : "";
    };
    const auto number = [&](const char* name) { return std::atoll(cell(name).c_str()); };
    const std::string family = cell("family").empty() ? "matmul" : cell("family");
    const std::string key = cell("run") + "," + cell("slice_ms") + "," + family + "," +
                            cell("type") + "," + cell("m") + "," + cell("n") + "," + cell("k");
    std::string name = cell("kernel");
    LaunchOrder order;
    if (const auto slash = name.find(" /"); slash != std::string::npos) {
      order.split_k = std::atoi(name.c_str() + slash + 2);
      name.resize(slash);
    }
    const bool is_peer = cell("side").starts_with("peer") || name.starts_with("cublaslt");
    const KnownKernel* kernel = is_peer ? nullptr : find(kernels, family, name);
    if (!is_peer && kernel == nullptr) continue;  // an older tree had it
    order.stream_k = !is_peer && kernel->facts.config.split == Split::Stream;
    const double amid =
        std::atof(cell("between_us").c_str()) - std::atof(cell("foreign_us").c_str());
    for (const auto& [situation, microseconds] :
         {std::pair(Situation::Following, std::atof(cell("us").c_str())),
          std::pair(Situation::Amid, amid)}) {
      if (microseconds <= 0) continue;
      const auto [place, is_new] = places.try_emplace({key, situation}, shapes.size());
      if (is_new) {
        FitShape shape;
        shape.family = family, shape.type = cell("type"), shape.weight = weight;
        shape.situation = situation;
        MatmulProblem& problem = shape.problem;
        problem.m = number("m"), problem.n = number("n"), problem.k = number("k");
        problem.a.pitch = problem.b.pitch = problem.k;
        problem.d.pitch = problem.n;
        const auto type = element_type_of(shape.type);
        if (!type) return Status::refused(fmt::format("'{}' has a type '{}'.", path, shape.type));
        problem.a.type = problem.b.type = *type;
        const auto origin = origins.find({family, shape.type, problem.m, problem.n, problem.k});
        shape.model =
            origin != origins.end() ? origin->second : fmt::format("{}x{}", problem.n, problem.k);
        shapes.push_back(shape);
      }
      FitShape& shape = shapes[place->second];
      double& least = is_peer ? shape.peer_us : shape.best_us;
      least = least == 0 ? microseconds : std::min(least, microseconds);
      if (!is_peer) shape.launches.push_back({kernel, order, microseconds});
    }
  }
  return Status::good();
}

}  // namespace bench
}  // namespace tw
