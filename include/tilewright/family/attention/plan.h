// The order of a step of attention, as a value: what is waited for, and how deep, follows from it,
// and an order that would touch what a product still uses does not compile.
#pragma once

#include <cstddef>

#include "tilewright/base/require.h"
#include "tilewright/pipeline/payload.h"

namespace tw {

// Loads values, where queries and keys alone are the loading role's.
inline constexpr Role value_role = "load values";
// Writes the values that came once more, along keys, where the tensor core takes them so alone.
inline constexpr Role transpose_role = "transpose";
// Writes the keys that came once more, as 16 bits, where products take no bytes.
inline constexpr Role convert_role = "convert";

// What a group does in a step: it begins with the weights of the block before, and ends with those
// of the next; no product is in flight before or after it. A thread has values of two rows.
enum class Act : unsigned {
  IssueScores,  // queries by the next keys
  IssueSums,    // weights by values, for which it waits first, added to the sums
  AwaitScores,  // releases the keys, too
  Compare,      // finds the rows' maxima so far
  WeighUpper,   // scores of the upper row become weights of its maximum, in place
  WeighLower,   // the same for the lower row
  AwaitSums,    // releases the values, too
  TakeWeights,  // the scores' registers become an operand
  CorrectSums,  // by how much the maxima grew
};

struct AttentionPlan {
  static constexpr unsigned count = 9;
  Act acts[count];
  // Two products stand next to each other, and the second is issued after the turn is passed on.
  bool turn_for_first = false;
  // The next keys are awaited before the sums, unless there are none: ptxas puts no wait for a
  // product before a branch, and would put this one before the exponentials.
  bool keys_ahead = false;

  constexpr unsigned place(Act act) const {
    for (unsigned i = 0; i < count; ++i) {
      if (acts[i] == act) return i;
    }
    return count;
  }
  constexpr bool is_before(Act first, Act second) const { return place(first) < place(second); }

  static constexpr bool is_product(Act act) {
    return act == Act::IssueScores || act == Act::IssueSums;
  }
  // Products are done in the order in which they are issued: a wait leaves in flight those that
  // were issued behind the one that it is for, and before the wait.
  constexpr unsigned depth(Act wait) const {
    const bool of_scores = wait == Act::AwaitScores;
    const Act own = of_scores ? Act::IssueScores : Act::IssueSums;
    const Act other = of_scores ? Act::IssueSums : Act::IssueScores;
    return is_before(own, other) && is_before(other, wait) ? 1 : 0;
  }
  // Products that stand next to each other are issued in one turn: this is the first of two.
  constexpr bool begins_pair(unsigned i) const {
    return i + 1 < count && is_product(acts[i]) && is_product(acts[i + 1]);
  }
  constexpr bool ends_pair(unsigned i) const { return i > 0 && begins_pair(i - 1); }

  consteval AttentionPlan checked() const {
    for (unsigned i = 0; i < count; ++i) {
      require(place(static_cast<Act>(i)) < count, "A plan of attention has every act once.");
    }
    require(
        is_before(Act::IssueScores, Act::AwaitScores) && is_before(Act::IssueSums, Act::AwaitSums),
        "A plan of attention waits for a product before it is issued.");
    require(is_before(Act::AwaitScores, Act::Compare),
            "A plan of attention weighs scores that a product still adds up.");
    for (const Act weigh : {Act::WeighUpper, Act::WeighLower}) {
      require(is_before(Act::Compare, weigh),
              "A plan of attention weighs scores before it knows their maximum.");
      require(is_before(weigh, Act::TakeWeights),
              "A plan of attention takes weights before they are made of scores.");
    }
    require(is_before(Act::Compare, Act::CorrectSums),
            "A plan of attention corrects sums before it knows by how much.");
    require(is_before(Act::AwaitSums, Act::TakeWeights),
            "A plan of attention overwrites weights that a product still reads.");
    require(is_before(Act::AwaitSums, Act::CorrectSums),
            "A plan of attention corrects sums that a product still adds to.");
    return *this;
  }
};

namespace attention_plan {

// The product of the sums runs while scores of the upper rows are weighed. Under the exponentials
// of the lower rows, weights are taken and sums corrected.
inline constexpr AttentionPlan halved_ahead = AttentionPlan{
    .acts = {Act::IssueScores, Act::IssueSums, Act::AwaitScores, Act::Compare, Act::WeighUpper,
             Act::AwaitSums, Act::WeighLower, Act::TakeWeights, Act::CorrectSums},
    .keys_ahead = true}.checked();
// The same, but ptxas waits for the sums as soon as it knows the maxima.
inline constexpr AttentionPlan halved = AttentionPlan{
    {Act::IssueScores, Act::IssueSums, Act::AwaitScores, Act::Compare, Act::WeighUpper,
     Act::AwaitSums, Act::WeighLower, Act::TakeWeights, Act::CorrectSums}}.checked();

// The others were measured beside it (bench/results, plans of attention).

// The product of the sums runs while scores are weighed.
inline constexpr AttentionPlan overlapped = AttentionPlan{
    {Act::IssueScores, Act::IssueSums, Act::AwaitScores, Act::Compare, Act::WeighUpper,
     Act::WeighLower, Act::AwaitSums, Act::TakeWeights,
     Act::CorrectSums}}.checked();
// The turn is passed on before the sums are issued.
inline constexpr AttentionPlan scores_in_turn =
    AttentionPlan{
        {Act::IssueScores, Act::IssueSums, Act::AwaitScores, Act::Compare, Act::WeighUpper,
         Act::WeighLower, Act::AwaitSums, Act::TakeWeights, Act::CorrectSums},
        true}
        .checked();
// The sums are issued when the scores are there, in a turn of their own.
inline constexpr AttentionPlan late_sums = AttentionPlan{
    {Act::IssueScores, Act::AwaitScores, Act::IssueSums, Act::Compare, Act::WeighUpper,
     Act::WeighLower, Act::AwaitSums, Act::TakeWeights,
     Act::CorrectSums}}.checked();
// The sums are issued first, and the values are released before the keys.
inline constexpr AttentionPlan sums_awaited_first = AttentionPlan{
    {Act::IssueSums, Act::IssueScores, Act::AwaitSums, Act::AwaitScores, Act::Compare,
     Act::WeighUpper, Act::WeighLower, Act::TakeWeights,
     Act::CorrectSums}}.checked();
// Nothing overlaps but what groups do.
inline constexpr AttentionPlan serial = AttentionPlan{
    {Act::IssueScores, Act::AwaitScores, Act::Compare, Act::WeighUpper, Act::WeighLower,
     Act::IssueSums, Act::AwaitSums, Act::CorrectSums,
     Act::TakeWeights}}.checked();

}  // namespace attention_plan

}  // namespace tw
