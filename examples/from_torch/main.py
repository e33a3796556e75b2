"""A layer of a network: gelu(x w^T + bias) as one kernel, beside torch's own.

It runs on the GPU where there is one, else on the virtual GPU. PYTHONPATH names the package.
"""
import torch
import tilewright

device = 'cuda' if torch.cuda.is_available() else 'cpu'
torch.manual_seed(1)
x = torch.randn(48, 256, device=device, dtype=torch.bfloat16)
weight = torch.randn(192, 256, device=device, dtype=torch.bfloat16) / 16
bias = torch.randn(192, device=device)

hidden = tilewright.matmul(x, weight.mT, epilogue=tilewright.Epilogue(bias=bias, activation='gelu'))
expected = torch.nn.functional.gelu(x.float() @ weight.mT.float() + bias)
worst = (hidden.float() - expected).abs().max().item()
print(f'the layer is within {worst:.4f} of float32, torch in bf16 within '
      f'{(torch.nn.functional.gelu(x @ weight.mT + bias.bfloat16()).float() - expected).abs().max().item():.4f}')
assert worst < 0.02
