// Memory of which only some pieces are ever touched, with any distance between them.
#pragma once

#include <cstddef>
#include <vector>

namespace tw {

class SparseBytes {
 public:
  struct Piece {
    std::size_t begin, bytes;
    bool operator==(const Piece&) const = default;
  };

  SparseBytes() = default;
  // Zeros. Throws std::bad_alloc where the system has no room for so many addresses.
  SparseBytes(std::size_t bytes, std::vector<Piece> pieces);
  // Copies take the pieces only.
  SparseBytes(const SparseBytes& other);
  SparseBytes(SparseBytes&& other) noexcept;
  SparseBytes& operator=(SparseBytes other) noexcept;
  ~SparseBytes();

  bool empty() const { return bytes_ == 0; }
  std::byte* data() { return begin_; }
  const std::byte* data() const { return begin_; }
  const std::vector<Piece>& pieces() const { return pieces_; }
  // Compares all pieces.
  bool operator==(const SparseBytes& other) const;

 private:
  std::byte* begin_ = nullptr;
  std::size_t bytes_ = 0;
  std::vector<Piece> pieces_;
};

}  // namespace tw
