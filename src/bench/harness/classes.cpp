#include "src/bench/harness/classes.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

namespace tw::bench {

namespace {

// Where launches take so long, what surrounds a kernel hardly counts.
constexpr double long_us = 12;

struct Times {
  const ShapeResult* result;
  double peer, own;  // times for equal work; 0 where one of them did not run
};

Times alone(const ShapeResult& result) {
  const bool ran = result.ratio() > 0;
  return {&result, ran ? result.peer->median_us * result.peer_share : 0,
          ran ? result.best()->median_us : 0};
}

Times between(const ShapeResult& result, double less) {
  const bool ran = result.between_ratio_less() > 0;
  return {&result, ran ? (result.peer_between->between_us - less) * result.peer_share : 0,
          ran ? result.best()->between_us - less : 0};
}

ColumnSummary column_of(const std::vector<Times>& all) {
  ColumnSummary column;
  GeometricMean mean;
  std::vector<double> ratios;
  double peer = 0, own = 0;
  for (const Times& one : all) {
    if (one.peer <= 0 || one.own <= 0) continue;
    const double ratio = one.peer / one.own;
    if (ratios.empty() || ratio < column.worst.value) {
      column.worst = {one.result->shape.text, ratio};
    }
    ratios.push_back(ratio);
    mean.add(ratio);
    peer += one.peer;
    own += one.own;
  }
  if (ratios.empty()) return column;
  std::sort(ratios.begin(), ratios.end());
  column.count = ratios.size();
  column.mean = mean.value();
  column.median = ratios[(ratios.size() - 1) / 2];
  column.sum = peer / own;
  return column;
}

std::string cells(const ColumnSummary& column) {
  if (column.count == 0) return " | | | |";
  return fmt::format(" {:.3f} | {:.3f} | {:.3f} | {:.2f} ({}) |", column.mean, column.median,
                     column.sum, column.worst.value, column.worst.shape);
}

}  // namespace

std::vector<ClassSummary> classes_of(const std::vector<ShapeResult>& results) {
  struct Class {
    std::string name;
    std::function<bool(const ShapeResult&)> has;
  };
  std::vector<Class> classes = {{"all", [](const ShapeResult&) { return true; }}};
  const auto rows = [&classes](const char* name, std::int64_t low, std::int64_t high) {
    classes.push_back({name, [low, high](const ShapeResult& result) {
                         return result.shape.m >= low && result.shape.m <= high;
                       }});
  };
  rows("m <= 16", 1, 16);
  rows("m 17 to 64", 17, 64);
  rows("m 65 to 256", 65, 256);
  rows("m 257 to 1024", 257, 1024);
  rows("m > 1024", 1025, std::int64_t{1} << 62);
  classes.push_back({fmt::format("peer < {} us", long_us), [](const ShapeResult& result) {
                       return result.peer && result.peer->median_us < long_us;
                     }});
  classes.push_back({fmt::format("peer >= {} us", long_us), [](const ShapeResult& result) {
                       return result.peer && result.peer->median_us >= long_us;
                     }});
  std::vector<ClassSummary> found;
  for (const Class& one : classes) {
    std::vector<Times> columns[3];
    for (const ShapeResult& result : results) {
      if (!one.has(result)) continue;
      columns[0].push_back(alone(result));
      columns[1].push_back(between(result, 0));
      columns[2].push_back(between(result, result.foreign_us));
    }
    const ClassSummary summary = {one.name, column_of(columns[0]), column_of(columns[1]),
                                  column_of(columns[2])};
    if (summary.alone.count > 0) found.push_back(summary);
  }
  return found;
}

std::string text_of(const std::vector<ClassSummary>& classes) {
  if (classes.empty()) return "";
  const bool has_between = classes.front().between.count > 0;
  const std::string columns = " mean | median | sum of times | worst |", line = "---|---|---|---|";
  std::string text = has_between
                         ? "Launch behind launch; then a foreign kernel between launches; then "
                           "the same, less that kernel's own time.\n\n"
                         : "\n";
  text += "| class | shapes |" + columns + (has_between ? columns + columns : "") + "\n|---|---|" +
          line + (has_between ? line + line : "") + "\n";
  for (const ClassSummary& one : classes) {
    text += fmt::format("| {} | {} |{}", one.name, one.alone.count, cells(one.alone));
    if (has_between) text += cells(one.between) + cells(one.between_less);
    text += "\n";
  }
  return text;
}

}  // namespace tw::bench
