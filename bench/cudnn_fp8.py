"""cuDNN's attention of e4m3, by its Python frontend (package nvidia-cudnn-frontend): a peer of attention_torch.py --e4m3.

Nothing here has run on a GPU yet: no machine of ours had the package. What it or cuDNN refuses is told, and not measured.
"""
import math

SCALES = ('descale_q', 'descale_k', 'descale_v', 'descale_s', 'scale_s', 'scale_o')
ONE = (1, 1, 1, 1)


def caller(torch, q, k, v, causal):
    """(call, None), or (None, why not). The tensors are e4m3, (sequence,head,token,column), and so is the result of call(); scales
    are 1, that of the weights 2^8: as with attention_128_e4m3 the largest is 2^8."""
    try:
        import cudnn
    except ImportError as missing:
        return None, f'its Python frontend is not here ({missing}).'
    try:
        return made(torch, cudnn, q, k, v, causal), None
    except Exception as refused:  # cuDNN has a type for each of its reasons
        return None, f'cuDNN {cudnn.backend_version()} says {type(refused).__name__}: {" ".join(str(refused).split())[:300]}'


def made(torch, cudnn, q, k, v, causal):
    types = cudnn.data_type
    handle = cudnn.create_handle()
    graph = cudnn.pygraph(io_data_type=types.FP8_E4M3, intermediate_data_type=types.FLOAT, compute_data_type=types.FLOAT,
                          handle=handle)
    output = torch.empty_like(q)
    numbers = {name: torch.full(ONE, {'scale_s': 256.0, 'descale_s': 1 / 256}.get(name, 1.0), device='cuda') for name in SCALES}
    given = {name: graph.tensor(name=name, dim=list(tensor.shape), stride=list(tensor.stride()), data_type=types.FP8_E4M3)
             for name, tensor in (('q', q), ('k', k), ('v', v))}
    given.update({name: graph.tensor(name=name, dim=list(ONE), stride=list(ONE), data_type=types.FLOAT) for name in SCALES})
    o, _, *largest = graph.sdpa_fp8(**given, is_inference=True, attn_scale=1 / math.sqrt(q.shape[-1]), use_causal_mask=causal, name='attention')
    o.set_output(True).set_dim(list(output.shape)).set_stride(list(output.stride()))
    written = {o: output}
    for number in largest:
        number.set_output(True).set_dim(list(ONE)).set_stride(list(ONE)).set_data_type(types.FLOAT)
        written[number] = torch.empty(ONE, device='cuda')
    graph.validate()
    graph.build_operation_graph()
    graph.create_execution_plans([cudnn.heur_mode.A, cudnn.heur_mode.FALLBACK])
    graph.check_support()
    graph.build_plans()
    workspace = torch.empty(max(graph.get_workspace_size(), 1), device='cuda', dtype=torch.uint8)
    tensors = {**{given[name]: tensor for name, tensor in (('q', q), ('k', k), ('v', v), *numbers.items())}, **written}

    def call():
        cudnn.set_stream(handle=handle, stream=torch.cuda.current_stream().cuda_stream)
        graph.execute(tensors, workspace, handle=handle)
        return output
    call()
    torch.cuda.synchronize()
    return call
