// Attention, behind the functions of tilewright.h.
#include "src/families/attention_choice.h"

#include "src/library/described.h"
#include "tilewright/family/attention/family.h"

namespace tw::library {

namespace {

const Registered registered_attention(
    Calls<DispatchedFamily<AttentionFamily, attention_instances, choose_attention>>::table);

}  // namespace

}  // namespace tw::library
