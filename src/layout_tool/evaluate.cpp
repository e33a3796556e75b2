#include "src/layout_tool/evaluate.h"

#include <fmt/format.h>

#include "src/layout_tool/operations.h"

namespace tw::layout_tool {

namespace {

Value evaluate(const Expression& expression);

const Operation& find_operation(const Expression& call) {
  for (const Operation& operation : operations()) {
    if (operation.name == call.function) return operation;
  }
  throw ExpressionError(
      call.position,
      fmt::format("There is no function '{}'; ./tw layout --help lists them.", call.function));
}

std::vector<Argument> evaluate_operands(const Expression& expression) {
  std::vector<Argument> result;
  for (const Expression& operand : expression.operands) {
    result.push_back({operand.position, evaluate(operand)});
  }
  return result;
}

Value evaluate_call(const Expression& call) {
  const Operation& operation = find_operation(call);
  const std::size_t count = call.operands.size();
  if (count < operation.fewest || count > operation.most) {
    throw ExpressionError(call.position,
                          fmt::format("{} takes ({}), not {} argument{}.", operation.name,
                                      operation.parameters, count, count == 1 ? "" : "s"));
  }
  const std::vector<Argument> arguments = evaluate_operands(call);
  try {
    return operation.apply(Arguments(operation.name, arguments));
  } catch (const ExpressionError&) {
    throw;
  } catch (const Refusal& refusal) {
    throw ExpressionError(call.position, refusal.what());
  }
}

Value evaluate_tiler(const Expression& expression) {
  if (expression.operands.size() > 4) {
    throw ExpressionError(expression.operands[4].position, "A tiler has at most 4 modes.");
  }
  const std::vector<Argument> modes = evaluate_operands(expression);
  const Arguments arguments("the tiler", modes);
  Layout tiles[4] = {};
  for (std::size_t i = 0; i < modes.size(); ++i) tiles[i] = arguments.layout(i);
  return Tiler{tiles[0], tiles[1], tiles[2], tiles[3], static_cast<std::int64_t>(modes.size())};
}

Value evaluate(const Expression& expression) {
  switch (expression.kind) {
    case Expression::Kind::Number: return expression.number;
    case Expression::Kind::Layout: return expression.layout;
    case Expression::Kind::Tiler: return evaluate_tiler(expression);
    case Expression::Kind::Call: break;
  }
  return evaluate_call(expression);
}

}  // namespace

Value evaluate(std::string_view text) { return evaluate(parse_expression(text)); }

}  // namespace tw::layout_tool
