"""What waits for torch, which is imported with its first tensor and not before."""
MAKERS = {}


def with_torch(family):
    """Decorates what registers a family's operators and returns them; _torch_made.py calls it."""
    def keep(make):
        MAKERS[family] = make
        return make
    return keep
