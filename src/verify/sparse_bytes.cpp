#include "src/verify/sparse_bytes.h"

#include <sys/mman.h>

#include <cstring>
#include <new>
#include <utility>

namespace tw {

namespace {

// Addresses of nobody before and behind the memory: an offset that has lost its upper bits ends
// there, and not in memory of somebody else.
constexpr std::size_t margin = std::size_t{32} << 30;

}  // namespace

SparseBytes::SparseBytes(std::size_t bytes, std::vector<Piece> pieces)
    : bytes_(bytes), pieces_(std::move(pieces)) {
  void* const memory = mmap(nullptr, bytes + 2 * margin, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  begin_ = static_cast<std::byte*>(memory) + margin;
}

SparseBytes::SparseBytes(const SparseBytes& other) {
  if (other.empty()) return;
  *this = SparseBytes(other.bytes_, other.pieces_);
  for (const Piece& piece : pieces_) {
    std::memcpy(begin_ + piece.begin, other.begin_ + piece.begin, piece.bytes);
  }
}

SparseBytes::SparseBytes(SparseBytes&& other) noexcept
    : begin_(std::exchange(other.begin_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)),
      pieces_(std::exchange(other.pieces_, {})) {}

SparseBytes& SparseBytes::operator=(SparseBytes other) noexcept {
  std::swap(begin_, other.begin_);
  std::swap(bytes_, other.bytes_);
  std::swap(pieces_, other.pieces_);
  return *this;
}

SparseBytes::~SparseBytes() {
  if (!empty()) munmap(begin_ - margin, bytes_ + 2 * margin);
}

bool SparseBytes::operator==(const SparseBytes& other) const {
  if (pieces_ != other.pieces_) return false;
  for (const Piece& piece : pieces_) {
    if (std::memcmp(begin_ + piece.begin, other.begin_ + piece.begin, piece.bytes) != 0) {
      return false;
    }
  }
  return true;
}

}  // namespace tw
