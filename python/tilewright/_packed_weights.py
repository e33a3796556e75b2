"""PackedWeights: four-bit weights in the order that products read them."""


class PackedWeights:
    """Weights of n outputs by k inputs, or [experts, n, k], in the order that products read them: no array, so that nobody
    takes it for one. `data` are its bytes; the weights are those times 2^exponent and tensor_scale."""
    __slots__ = ('data', 'shape', 'format', 'group', 'activation', 'exponent', 'tensor_scale')

    def __init__(self, data, shape, format, group, activation, exponent, tensor_scale):
        self.data, self.shape, self.format, self.group = data, shape, format, group
        self.activation, self.exponent, self.tensor_scale = activation, exponent, tensor_scale

    def __repr__(self):
        return f'PackedWeights({self.format} {self.shape} for {self.activation}, groups of {self.group})'
