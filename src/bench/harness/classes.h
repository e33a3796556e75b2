// Ratios by class: of how many rows a product has, and of how long the peer takes.
#pragma once

#include <string>
#include <vector>

#include "src/bench/harness/summary.h"

namespace tw::bench {

// One column of ratios: launches one behind the other, or with a foreign kernel between them.
struct ColumnSummary {
  std::size_t count = 0;
  double mean = 0;    // geometric
  double median = 0;  // the lower of two
  double sum = 0;     // sum of the peer's times over the sum of ours
  ShapeValue worst;
};

struct ClassSummary {
  std::string name;  // "m <= 16"
  ColumnSummary alone, between, between_less;
};

// All shapes first; a class without a shape that was compared is left out.
std::vector<ClassSummary> classes_of(const std::vector<ShapeResult>& results);

// Writes the classes as a table in Markdown: no text where nothing was compared.
std::string text_of(const std::vector<ClassSummary>& classes);

}  // namespace tw::bench
