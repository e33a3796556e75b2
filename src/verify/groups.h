// Groups of rows in known answers: who has which, what the device is told, and what is left alone.
#pragma once

#include <algorithm>
#include <iterator>
#include <limits>
#include <memory>
#include <vector>

#include "src/verify/product.h"

namespace tw {

// The rows of each group.
struct Groups {
  explicit Groups(const std::vector<std::int64_t>& sizes, std::int64_t capacity = 0)
      : sizes(sizes), capacity(capacity) {}

  // The group of a row, or -1.
  int of_row(std::int64_t row) const {
    std::int64_t begin = 0;
    for (std::size_t group = 0; group < sizes.size(); ++group) {
      if (row >= begin && row < begin + sizes[group]) return static_cast<int>(group);
      begin += capacity > 0 ? capacity : sizes[group];
    }
    return -1;
  }

  // Fills in the numbers that the device reads; where `hostile`, some groups have fewer rows than
  // none, or more than there are.
  void fill(HostMatrix& rows, std::int64_t m, bool hostile, Random& random) const {
    std::int64_t end = 0;
    rows.fill([&](auto, auto, std::int64_t group) {
      const std::int64_t size = sizes[static_cast<std::size_t>(group)];
      const bool by_room = capacity > 0;
      const std::int64_t told = by_room ? size : end += size;
      const std::int64_t most = by_room ? capacity : m;
      return static_cast<double>(hostile ? impossible(told, size == 0, most, random) : told);
    });
  }

  // The rows that groups have among m, and the product of each: row source_of(row) of A by its
  // group's B.
  struct Owned {
    std::vector<std::int64_t> rows;
    std::vector<ProductLine> lines;
  };
  template <class SourceOf>
  Owned owned(std::int64_t m, const SourceOf& source_of) const {
    Owned result;
    for (std::int64_t row = 0; row < m; ++row) {
      const int group = of_row(row);
      if (group < 0) continue;
      result.rows.push_back(row);
      result.lines.push_back({0, source_of(row), group});
    }
    return result;
  }

  // `sums` are those of `rows`, which groups have among m; the others must be left alone.
  std::shared_ptr<const Answer> answer(const MatmulSums& sums,
                                       const std::vector<std::int64_t>& rows, MatmulData data,
                                       const MatmulShape& shape, std::int64_t m, Fill fill) const {
    data.source = selected(data.source, rows, false);
    data.row_bias = selected(data.row_bias, rows, true);
    data.row_scale = selected(data.row_scale, rows, true);
    MatmulReference reference = reference_of(sums, data, shape);
    reference.d = scattered(reference.d, rows, m, shape.output_columns());
    reference.auxiliary =
        scattered(reference.auxiliary, rows, m, data.auxiliary.exists() ? shape.n : 0);
    return std::make_shared<ProductAnswer>(std::move(reference), fill,
                                           [groups = *this](MatmulData& ran) {
                                             groups.judge_rows_of_nobody(ran.d);
                                             groups.judge_rows_of_nobody(ran.auxiliary);
                                           });
  }

  // The rows that groups have, among those of nobody.
  static std::vector<Expected> scattered(const std::vector<Expected>& some,
                                         const std::vector<std::int64_t>& rows, std::int64_t m,
                                         std::int64_t columns) {
    std::vector<Expected> all(static_cast<std::size_t>(m * columns));
    for (std::size_t i = 0; i < some.size(); ++i) {
      const auto at = static_cast<std::int64_t>(i);
      all[static_cast<std::size_t>(rows[i / columns] * columns + at % columns)] = some[i];
    }
    return all;
  }

  std::vector<std::int64_t> sizes;
  std::int64_t capacity;

 private:
  // A number that cannot be, but is taken as this one: below what an empty group may have, or above
  // what there is room for. Any other number is told as it is. None is so large that a kernel which
  // believes it would run for hours.
  static std::int64_t impossible(std::int64_t told, bool is_empty, std::int64_t most,
                                 Random& random) {
    const std::int64_t below[] = {told - 1, 0, -1, -1000};
    const std::int64_t above[] = {told + 1, told + 100, 2 * most + 77};
    if (is_empty) return std::min(told, below[random() % std::size(below)]);
    return told == most ? above[random() % std::size(above)] : told;
  }

  // Some rows of a matrix, or some elements of a vector.
  static HostMatrix selected(const HostMatrix& from, const std::vector<std::int64_t>& which,
                             bool elements) {
    if (!from.exists()) return from;
    const auto count = static_cast<std::int64_t>(which.size());
    HostMatrix some(from.type, Major::K, 1, elements ? 1 : count, elements ? count : from.columns,
                    false);
    some.allocate();
    some.fill([&](std::int64_t, std::int64_t row, std::int64_t column) {
      return elements ? from.at(0, 0, which[column]) : from.at(0, which[row], column);
    });
    return some;
  }

  // Rows of no group must still be poison: they then get what the reference has there, others
  // anything else.
  void judge_rows_of_nobody(HostMatrix& matrix) const {
    for (std::int64_t row = 0; row < matrix.rows && matrix.exists(); ++row) {
      if (of_row(row) >= 0) continue;
      for (std::int64_t column = 0; column < matrix.columns; ++column) {
        const std::size_t at = matrix.index(0, row, column);
        const bool is_poison =
            read_bits(matrix.type, matrix.element(at)) == poison_bits(matrix.type, at);
        matrix.set(0, row, column, is_poison ? 0.0 : 1.0);
      }
    }
  }
};

// Some groups are empty, some have one row; one may have rows of several tiles.
inline std::vector<std::int64_t> random_sizes(std::int64_t tile, Random& random) {
  const bool many = random() % 3 == 0;  // most of them have nothing
  std::vector<std::int64_t> all(
      static_cast<std::size_t>(many ? between(random, 9, 40) : between(random, 1, 5)));
  for (std::int64_t& size : all) {
    const std::int64_t kinds[] = {0, 1, between(random, 2, tile), tile + between(random, -1, 1)};
    size = kinds[random() % (many && random() % 4 != 0 ? 1 : 4)];
  }
  if (random() % 3 == 0) all[random() % all.size()] = between(random, tile + 1, 3 * tile);
  return all;
}

// Rows that nobody uses must not matter.
inline void make_others_infinite(HostMatrix& matrix, const std::vector<bool>& used) {
  matrix.fill([&, given = matrix](std::int64_t, std::int64_t row, std::int64_t column) {
    return used[row] ? given.at(0, row, column) : std::numeric_limits<double>::infinity();
  });
}

}  // namespace tw
