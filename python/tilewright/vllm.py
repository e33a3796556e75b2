"""Four-bit weights in vLLM, by a kernel of its registry of mixed-precision linear layers (docs/four_bit.md).

    # in a plug-in of vLLM (entry point vllm.general_plugins)
    import tilewright.vllm
    tilewright.vllm.register()
"""
from ._arrays import View
from ._described import extents_by_description, problem_by_description
from ._errors import Error
from ._library import library, new_options
from ._problem import Epilogue
from .families import FUNCTIONS

__all__ = ['refusal', 'register']

FORMATS = {'uint4b8': 'int4', 'uint4': 'int4_zeros'}  # by vLLM's names of scalar types
TARGET = 'sm90a'
FEW = 16  # rows of activations: what is served does not depend on them
FAR = 1 << 40  # addresses that nobody reads


def _refused(n, k, format, group, activation):
    numbers = dict(n=n, k=k, format=format, scale_group=group)
    rows, columns = extents_by_description('four_bit', 'weights', {'a': activation, 'd': activation}, m=FEW, **numbers)
    memory = {'a': View(FAR, (FEW, k), (k, 1), activation, True, None), 'weights': View(2 * FAR, (rows * columns,), (1,), 's8', True, None),
              'd': View(3 * FAR, (FEW, n), (n, 1), activation, True, None)}
    problem = problem_by_description('four_bit', memory | numbers, lambda name, view, type: view)
    if library().tw_supported(problem, new_options(False, True, None, TARGET)) != 0:
        return library().tw_message().decode(errors='replace')
    return None


def refusal(config):
    """Why a layer of vLLM's is not served: a sentence, or None. `config` is its MPLinearLayerConfig."""
    k, n = config.partition_weight_shape
    format = FORMATS.get(str(config.weight_type))
    if format is None:
        return f'Weights of {config.weight_type} are not served; there are {", ".join(FORMATS)}.'
    if config.zero_points != (format == 'int4_zeros'):
        return f'Weights of {config.weight_type} with zero_points = {config.zero_points} are not served.'
    if config.has_g_idx:
        return 'Weights whose inputs were reordered (g_idx) are not taken.'
    activation = {'torch.bfloat16': 'bf16', 'torch.float16': 'fp16'}.get(str(config.act_type))
    if activation is None:
        return f'Activations of {config.act_type} are not served; there are torch.bfloat16 and torch.float16.'
    if config.group_size > 0 and k % config.group_size:
        return f'{k} inputs are no whole groups of {config.group_size}.'
    whole = config.group_size <= 0 or config.group_size % 128 == 0  # packed as groups of 128
    try:
        return _refused(n, k, format, 128 if whole else config.group_size, activation)
    except Error as error:
        return str(error)


def layout_of(weight):
    """By the sides that vLLM's parameter has: GPTQ's int32 [k / 8, n], or that of compressed-tensors, [n, k / 8]."""
    return 'gptq' if weight.input_dim == 0 else 'compressed_tensors'


def kernel_class(base):
    """The class to register, of vLLM's MPLinearKernel."""

    class TilewrightLinearKernel(base):
        @classmethod
        def get_min_capability(cls):
            return 90

        @classmethod
        def can_implement(cls, c):
            reason = refusal(c)
            return reason is None, reason

        def process_weights_after_loading(self, layer):
            weight, scales = getattr(layer, self.w_q_name), getattr(layer, self.w_s_name)
            zeros = getattr(layer, self.w_zp_name) if self.config.zero_points else None
            layer.tilewright_weights = FUNCTIONS['pack_weights'](
                weight.data, scales.data.to(self.config.act_type), None if zeros is None else zeros.data, layout=layout_of(weight))
            for name in (self.w_q_name, self.w_s_name, self.w_zp_name if zeros is not None else None):
                if name is not None:  # the packed bytes are all that is kept
                    parameter = getattr(layer, name)
                    parameter.data = parameter.data.new_empty(0)

        def apply_weights(self, layer, x, bias=None):
            epilogue = None if bias is None else Epilogue(bias=bias)
            return FUNCTIONS['matmul_four_bit'](x, layer.tilewright_weights, epilogue=epilogue, weights_are_constant=True)

    return TilewrightLinearKernel


def register():
    """Puts the kernel behind vLLM's own: VLLM_DISABLED_KERNELS takes those away that come before."""
    from vllm.model_executor.kernels.linear import register_linear_kernel
    from vllm.model_executor.kernels.linear.mixed_precision.MPLinearKernel import MPLinearKernel
    from vllm.platforms import PlatformEnum
    register_linear_kernel(kernel_class(MPLinearKernel), PlatformEnum.CUDA, 'mp')
