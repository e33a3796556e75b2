"""Layers whose weights lie in parts on several GPUs; x is whole on each."""
import tilewright as tw


class ColumnParallel:
    """Some of the outputs: weight [n / processes, k], bias [n / processes]. Nobody is asked."""

    def __init__(self, weight, bias, activation):
        self.weight, self.epilogue = weight, tw.Epilogue(bias=bias, activation=activation)

    def __call__(self, x):
        return tw.matmul(x, self.weight.T, epilogue=self.epilogue)


class RowParallel:
    """Some of the inputs: weight [n, k / processes]. Sums of parts are added in float32."""

    def __init__(self, weight, add_up, float32):
        self.weight, self.add_up, self.float32 = weight, add_up, float32

    def __call__(self, x):
        return self.add_up(tw.matmul(x, self.weight.T, out_dtype=self.float32))
