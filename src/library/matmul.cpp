// Products, behind the functions of tilewright.h.
#include "src/dispatch/choose.h"
#include "src/library/described.h"
#include "src/library/tuning.h"
#include "tilewright/family/matmul/family.h"

namespace tw::library {

DispatchRequest request_of(const tw_matmul_options& options, const Place& place) {
  DispatchRequest request;
  request.target = place.target;
  request.sms = place.sms;
  request.device = place.name;
  request.own_table = own_table(place);
  request.batch_invariant = options.batch_invariant != 0;
  request.fast_accumulation = options.fast_accumulation != 0;
  request.instance = options.instance;
  request.workspace_limit = options.workspace_limit;
  return request;
}

namespace {

const Registered registered_matmul(
    Calls<DispatchedFamily<MatmulFamily, matmul_instances, choose>>::table);

}  // namespace

}  // namespace tw::library
