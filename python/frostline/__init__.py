# SPDX-License-Identifier: Apache-2.0
"""Frostline from Python: which layers of a model to train, and how fast.

    import frostline
    trial = frostline.trial(lr=2e-5)            # in a script that a worker starts
    study = frostline.local().create_study(…)   # a coordinator on this machine
    for trial in study.trials(): …              # a worker of your own

Nothing is imported before it is used: neither grpc nor protobuf, numpy or torch."""
from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from .version import VERSION as __version__

if TYPE_CHECKING:
    from . import errors, hf, layers, optuna, optuna_storage
    from ._agent import trial
    from ._local import local
    from ._trial import Trial
    from .errors import Error
    from .programs import bin_path
    from .study import Client, Result, Study, connect

_HOME = {"trial": "_agent", "local": "_local", "Trial": "_trial", "Error": "errors",
         "bin_path": "programs", "Client": "study", "Result": "study", "Study": "study",
         "connect": "study", "errors": "", "hf": "", "layers": "",
         "optuna": "", "optuna_storage": ""}
__all__ = [*_HOME, "__version__"]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"frostline has no {name!r}; it has: {', '.join(_HOME)}")
    home = importlib.import_module(f".{_HOME[name] or name}", __name__)
    found = getattr(home, name) if _HOME[name] else home
    globals()[name] = found
    return found


def __dir__():
    return sorted(__all__)
