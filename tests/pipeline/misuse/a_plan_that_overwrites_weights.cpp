// Must compile as it is, and must not compile with TW_MISUSE: the order of a step of attention is
// refused with its sentence.
#include "tilewright/family/attention/kernel.h"
#include "tilewright/family/attention/sm90.h"

using tw::Act;

struct Named {
#if defined(TW_MISUSE)
  static constexpr tw::AttentionConfig config = {
      .plan = {{Act::IssueScores, Act::IssueSums, Act::AwaitScores, Act::Compare, Act::WeighUpper,
                Act::WeighLower, Act::TakeWeights, Act::AwaitSums, Act::CorrectSums}}};
#else
  static constexpr tw::AttentionConfig config = {};
#endif
};
using Kernel = tw::kernel::WarpSpecialized<tw::Attention<tw::Sm90Attention, Named>>;
void instantiated(const Kernel::Params& params) { Kernel::run(params); }
