// Every field of a problem of the C interface, with its name: visit(name, field).
#pragma once

#include <string>

#include "tilewright.h"

namespace tw::tests {

template <class Visit>
void each_field(tw_matrix& matrix, const std::string& name, const Visit& visit) {
  visit(name + ".data", matrix.data);
  visit(name + ".row_stride", matrix.row_stride);
  visit(name + ".column_stride", matrix.column_stride);
  visit(name + ".batch_stride", matrix.batch_stride);
  visit(name + ".type", matrix.type);
}
template <class Visit>
void each_field(tw_scales& scales, const std::string& name, const Visit& visit) {
  visit(name + ".data", scales.data);
  visit(name + ".rows", scales.rows);
  visit(name + ".k_blocks", scales.k_blocks);
  visit(name + ".row_stride", scales.row_stride);
  visit(name + ".k_stride", scales.k_stride);
  visit(name + ".batch_stride", scales.batch_stride);
  visit(name + ".type", scales.type);
}
template <class Visit>
void each_field(tw_epilogue& epilogue, const std::string& name, const Visit& visit) {
  visit(name + ".alpha", epilogue.alpha);
  visit(name + ".beta", epilogue.beta);
  visit(name + ".output_scale", epilogue.output_scale);
  visit(name + ".clamp_low", epilogue.clamp_low);
  visit(name + ".clamp_high", epilogue.clamp_high);
  visit(name + ".activation", epilogue.activation);
  visit(name + ".gated", epilogue.gated);
  each_field(epilogue.source, name + ".source", visit);
  visit(name + ".bias_type", epilogue.bias_type);
  visit(name + ".column_bias", epilogue.column_bias);
  visit(name + ".row_bias", epilogue.row_bias);
  visit(name + ".column_scale", epilogue.column_scale);
  visit(name + ".row_scale", epilogue.row_scale);
  each_field(epilogue.auxiliary, name + ".auxiliary", visit);
  visit(name + ".amax", epilogue.amax);
}
template <class Visit>
void each_field(tw_matmul_problem& problem, const std::string& name, const Visit& visit) {
  visit(name + "m", problem.m);
  visit(name + "n", problem.n);
  visit(name + "k", problem.k);
  visit(name + "batch", problem.batch);
  each_field(problem.a, name + "a", visit);
  each_field(problem.b, name + "b", visit);
  each_field(problem.d, name + "d", visit);
  each_field(problem.epilogue, name + "epilogue", visit);
}
template <class Visit>
void each_field(tw_requantised_problem& problem, const std::string& name, const Visit& visit) {
  each_field(problem.matmul, name + "matmul.", visit);
  each_field(problem.a_scales, name + "a_scales", visit);
  each_field(problem.b_scales, name + "b_scales", visit);
  each_field(problem.d_scales, name + "d_scales", visit);
  visit(name + "powers_of_two", problem.powers_of_two);
  visit(name + "gated_blocks", problem.gated_blocks);
  visit(name + "rows", problem.rows);
}
template <class Visit>
void each_field(tw_blockwise_problem& problem, const std::string& name, const Visit& visit) {
  each_field(problem.matmul, name + "matmul.", visit);
  each_field(problem.a_scales, name + "a_scales", visit);
  each_field(problem.b_scales, name + "b_scales", visit);
  visit(name + "powers_of_two", problem.powers_of_two);
}
template <class Visit>
void each_field(tw_grouped_problem& problem, const std::string& name, const Visit& visit) {
  each_field(problem.matmul, name + "matmul.", visit);
  visit(name + "rows", problem.rows);
  visit(name + "capacity", problem.capacity);
  visit(name + "row_index", problem.row_index);
  visit(name + "a_rows", problem.a_rows);
  each_field(problem.a_scales, name + "a_scales", visit);
  each_field(problem.b_scales, name + "b_scales", visit);
  visit(name + "scale", problem.scale);
  visit(name + "a_block_scales", problem.a_block_scales);
  visit(name + "b_block_scales", problem.b_block_scales);
}
template <class Visit>
void each_field(tw_quantise_problem& problem, const std::string& name, const Visit& visit) {
  visit(name + "m", problem.m);
  visit(name + "k", problem.k);
  visit(name + "batch", problem.batch);
  visit(name + "scale_rows", problem.scale_rows);
  each_field(problem.source, name + "source", visit);
  each_field(problem.elements, name + "elements", visit);
  each_field(problem.scales, name + "scales", visit);
  visit(name + "powers_of_two", problem.powers_of_two);
}
template <class Visit>
void each_field(tw_block_scaled_problem& problem, const std::string& name, const Visit& visit) {
  each_field(problem.matmul, name + "matmul.", visit);
  visit(name + "scale", problem.scale);
  visit(name + "a_scales", problem.a_scales);
  visit(name + "b_scales", problem.b_scales);
}
template <class Visit>
void each_field(tw_block_dequantise_problem& problem, const std::string& name, const Visit& visit) {
  visit(name + "m", problem.m);
  visit(name + "k", problem.k);
  each_field(problem.elements, name + "elements", visit);
  each_field(problem.values, name + "values", visit);
  visit(name + "scale", problem.scale);
  visit(name + "tensor_scale", problem.tensor_scale);
  visit(name + "scales", problem.scales);
  visit(name + "scale_order", problem.scale_order);
}
template <class Visit>
void each_field(tw_block_quantise_problem& problem, const std::string& name, const Visit& visit) {
  visit(name + "m", problem.m);
  visit(name + "k", problem.k);
  each_field(problem.source, name + "source", visit);
  each_field(problem.elements, name + "elements", visit);
  visit(name + "scale", problem.scale);
  visit(name + "rule", problem.rule);
  visit(name + "tensor_scale", problem.tensor_scale);
  visit(name + "scales", problem.scales);
  visit(name + "scale_order", problem.scale_order);
}
template <class Visit>
void each_field(tw_pack_weights_problem& problem, const std::string& name, const Visit& visit) {
  visit(name + "n", problem.n);
  visit(name + "k", problem.k);
  visit(name + "batch", problem.batch);
  visit(name + "format", problem.format);
  visit(name + "group", problem.group);
  visit(name + "activation", problem.activation);
  visit(name + "exponent", problem.exponent);
  visit(name + "order", problem.order);
  visit(name + "zero_offset", problem.zero_offset);
  each_field(problem.codes, name + "codes", visit);
  each_field(problem.scales, name + "scales", visit);
  each_field(problem.zeros, name + "zeros", visit);
  visit(name + "packed", problem.packed);
}
template <class Visit>
void each_field(tw_four_bit_problem& problem, const std::string& name, const Visit& visit) {
  visit(name + "m", problem.m);
  visit(name + "n", problem.n);
  visit(name + "k", problem.k);
  visit(name + "batch", problem.batch);
  each_field(problem.a, name + "a", visit);
  visit(name + "weights", problem.weights);
  visit(name + "format", problem.format);
  visit(name + "scale_group", problem.scale_group);
  visit(name + "exponent", problem.exponent);
  each_field(problem.d, name + "d", visit);
  each_field(problem.epilogue, name + "epilogue", visit);
  visit(name + "weights_are_constant", problem.weights_are_constant);
  visit(name + "rows", problem.rows);
  each_field(problem.a_scales, name + "a_scales", visit);
  visit(name + "capacity", problem.capacity);
  visit(name + "row_index", problem.row_index);
  visit(name + "a_rows", problem.a_rows);
}
template <class Visit>
void each_field(tw_rms_norm_problem& problem, const std::string& name, const Visit& visit) {
  visit(name + "m", problem.m);
  visit(name + "k", problem.k);
  visit(name + "epsilon", problem.epsilon);
  each_field(problem.source, name + "source", visit);
  each_field(problem.output, name + "output", visit);
  each_field(problem.residual, name + "residual", visit);
  each_field(problem.sum, name + "sum", visit);
  visit(name + "weight", problem.weight);
  visit(name + "weight_type", problem.weight_type);
}
template <class Visit>
void each_field(tw_rotary_problem& problem, const std::string& name, const Visit& visit) {
  visit(name + "tokens", problem.tokens);
  visit(name + "heads", problem.heads);
  visit(name + "key_heads", problem.key_heads);
  visit(name + "head_size", problem.head_size);
  visit(name + "all_positions", problem.all_positions);
  visit(name + "rows", problem.rows);
  each_field(problem.qkv, name + "qkv", visit);
  each_field(problem.cosines, name + "cosines", visit);
  each_field(problem.sines, name + "sines", visit);
  visit(name + "positions", problem.positions);
  visit(name + "slots", problem.slots);
  each_field(problem.q, name + "q", visit);
  each_field(problem.k, name + "k", visit);
  each_field(problem.v, name + "v", visit);
}
template <class Visit>
void each_field(tw_route_problem& problem, const std::string& name, const Visit& visit) {
  visit(name + "tokens", problem.tokens);
  visit(name + "experts", problem.experts);
  visit(name + "k", problem.k);
  visit(name + "groups", problem.groups);
  visit(name + "top_groups", problem.top_groups);
  visit(name + "group_scores", problem.group_scores);
  visit(name + "scoring", problem.scoring);
  visit(name + "normalise", problem.normalise);
  visit(name + "scale", problem.scale);
  each_field(problem.logits, name + "logits", visit);
  visit(name + "bias", problem.bias);
  visit(name + "weights", problem.weights);
  visit(name + "chosen", problem.chosen);
  visit(name + "places", problem.places);
  visit(name + "index", problem.index);
  visit(name + "ends", problem.ends);
}
template <class Visit>
void each_field(tw_combine_problem& problem, const std::string& name, const Visit& visit) {
  visit(name + "tokens", problem.tokens);
  visit(name + "columns", problem.columns);
  visit(name + "k", problem.k);
  visit(name + "rows", problem.rows);
  each_field(problem.source, name + "source", visit);
  each_field(problem.output, name + "output", visit);
  each_field(problem.addend, name + "addend", visit);
  visit(name + "weights", problem.weights);
  visit(name + "places", problem.places);
}
template <class Visit>
void each_field(tw_attention_problem& problem, const std::string& name, const Visit& visit) {
  visit(name + "heads", problem.heads);
  visit(name + "key_heads", problem.key_heads);
  visit(name + "head_size", problem.head_size);
  visit(name + "value_size", problem.value_size);
  visit(name + "sequences", problem.sequences);
  visit(name + "queries", problem.queries);
  visit(name + "keys", problem.keys);
  visit(name + "query_ends", problem.query_ends);
  visit(name + "key_ends", problem.key_ends);
  visit(name + "causal", problem.causal);
  visit(name + "window", problem.window);
  visit(name + "scale", problem.scale);
  visit(name + "softcap", problem.softcap);
  visit(name + "sinks", problem.sinks);
  each_field(problem.q, name + "q", visit);
  each_field(problem.k, name + "k", visit);
  each_field(problem.v, name + "v", visit);
  each_field(problem.output, name + "output", visit);
  each_field(problem.log_sums, name + "log_sums", visit);
  visit(name + "page_size", problem.page_size);
  visit(name + "pages", problem.pages);
  visit(name + "table_pitch", problem.table_pitch);
  visit(name + "page_table", problem.page_table);
  visit(name + "heads_in_pages", problem.heads_in_pages);
  visit(name + "q_scales", problem.q_scales);
  visit(name + "k_scales", problem.k_scales);
  visit(name + "v_scales", problem.v_scales);
  visit(name + "values_in_keys", problem.values_in_keys);
  visit(name + "range_begins", problem.range_begins);
  visit(name + "range_ends", problem.range_ends);
  visit(name + "sums_join_every", problem.sums_join_every);
}

template <class Visit>
void each_field(tw_conv2d_axis& axis, const std::string& name, const Visit& visit) {
  visit(name + ".extent", axis.extent);
  visit(name + ".filter", axis.filter);
  visit(name + ".stride", axis.stride);
  visit(name + ".dilation", axis.dilation);
  visit(name + ".pad_low", axis.pad_low);
  visit(name + ".pad_high", axis.pad_high);
}
template <class Visit>
void each_field(tw_conv2d_problem& problem, const std::string& name, const Visit& visit) {
  visit(name + "direction", problem.direction);
  visit(name + "n", problem.n);
  visit(name + "c", problem.c);
  visit(name + "k", problem.k);
  visit(name + "groups", problem.groups);
  each_field(problem.h, name + "h", visit);
  each_field(problem.w, name + "w", visit);
  each_field(problem.depth, name + "depth", visit);
  visit(name + "image", problem.image);
  visit(name + "filter", problem.filter);
  visit(name + "d", problem.d);
  visit(name + "type", problem.type);
  visit(name + "d_type", problem.d_type);
  each_field(problem.epilogue, name + "epilogue", visit);
}

}  // namespace tw::tests
