"""A module for each family, found by scanning: its `__all__` are the functions that tilewright has of it."""
import importlib
import pkgutil

MODULES = [importlib.import_module(f'{__name__}.{module.name}') for module in pkgutil.iter_modules(__path__)]
FUNCTIONS = {name: getattr(module, name) for module in MODULES for name in module.__all__}
