// Products, behind the functions of tilewright.h.
#include "src/dispatch/choose_launch.h"
#include "src/library/copier.h"
#include "src/library/described.h"
#include "src/library/failure.h"
#include "tilewright/family/matmul/family.h"

namespace tw::library {

namespace {

constexpr MatmulFamily::TensorIndex operands[] = {MatmulFamily::a, MatmulFamily::b};
constexpr unsigned bit_of(unsigned tensor) { return 1u << tensor; }

// Operands of which the kernel gets copies, whose lines begin at multiples of 128 bytes.
void state_of_copies(Rewritten& made, const library::Choice& choice, std::byte* memory) {
  tw_matmul_problem problem = made.given().as<tw_matmul_problem>();
  for (const auto tensor : operands) {
    if ((choice.rewritten & bit_of(tensor)) == 0) continue;
    const TensorField& field = MatmulFamily::tensors[tensor];
    const TensorLines& copy = made.add_copy(field.title, made.given().tensor(tensor), memory);
    field.set(&problem, {copy.data, copy.by_rows ? copy.pitch : 1, copy.by_rows ? 1 : copy.pitch,
                         copy.batch_pitch, static_cast<tw_type>(copy.type)});
  }
  // A copy of B is made just before.
  if ((choice.rewritten & bit_of(MatmulFamily::b)) != 0) problem.b_is_constant = 0;
  made.state(MatmulFamily::description, problem);
}

// Whether copies are asked for and served, with the kernel that takes them.
bool has_copies(library::Choice& choice, const Checked& problem, const DispatchRequest& request) {
  if (copier() == nullptr || problem.is_empty() || problem.product().k == 0) return false;
  choice.target = request.target;
  for (const auto tensor : operands) {
    const TensorLines& lines = problem.tensor(tensor);
    const bool is_aligned =
        alignment_of(lines.data, lines.pitch, lines.batch, lines.batch_pitch, lines.type) >= 16;
    if (!is_aligned) choice.rewritten |= bit_of(tensor);
  }
  if (choice.rewritten == 0) return false;
  Rewritten copies(problem);
  state_of_copies(copies, choice, reinterpret_cast<std::byte*>(Rewritten::alignment));
  double microseconds = 0;
  for (const Rewritten::Copy& copy : copies.copies()) {
    const TensorLines& to = copy.to;
    const double bytes = static_cast<double>(to.batch * to.lines) * static_cast<double>(to.length) *
                         bytes_of(to.type);
    microseconds += expected_copy_microseconds(bytes, machine_of(request));
    if (!copier()->serves(to, copy.from, request.target).is_good()) return false;
  }
  const std::size_t needed = copies.copied_bytes() + workspace_counter_bytes;
  if (!copies.status().is_good() || needed > request.workspace_limit) return false;
  DispatchRequest left = request;
  left.workspace_limit -= copies.copied_bytes();
  if (!ask(choice, copies.stated(), left, choose).is_good()) return false;
  choice.microseconds += microseconds;
  return true;
}

// A kernel that takes the operands as they are, or, where their lines begin anywhere, copies and
// a kernel that does not, where that is expected to be faster.
library::Choice as_it_is_or_of_copies(const Checked& problem, const DispatchRequest& request) {
  library::Choice choice, of_copies;
  const Status status = ask(choice, problem, request, choose);
  if (request.instance == nullptr && has_copies(of_copies, problem, request) &&
      (!status.is_good() || of_copies.microseconds < choice.microseconds)) {
    return of_copies;
  }
  if (!status.is_good()) throw Failure{TW_UNSUPPORTED, status.sentence()};
  return choice;
}

constexpr Family products = {&MatmulFamily::description,
                             matmul_instances,
                             {candidates, choose},
                             as_it_is_or_of_copies,
                             state_of_copies};
const Registered registered_matmul(products);

}  // namespace

}  // namespace tw::library
