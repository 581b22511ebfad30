# SPDX-License-Identifier: Apache-2.0
"""Several processes that train one trial (torchrun, accelerate launch).

Rank 0 holds the trial. It lays the trial, and after each report whether to stop, into
the store that torchrun keeps for its workers; the other ranks read them there. So all
ranks leave at the same report, and none of them waits in a collective that another has
left. No process group is needed, and none is made. Rank 0 ends the trial once the others
have ended theirs: a rank that failed fails it."""
from __future__ import annotations

import datetime
import json
import os
from typing import Any, Dict, Mapping, Optional, Tuple

from . import errors
from ._trial import Link

_PATIENCE = datetime.timedelta(days=7)  # a trial may take so long to come
_LAST = datetime.timedelta(seconds=60)  # from rank 0's end to that of the others
_store: Any = None
_trials = 0  # of this process so far


def rank() -> int:
    return int(os.environ.get("RANK", "0")) if world() > 1 else 0


def world() -> int:
    return int(os.environ.get("WORLD_SIZE", "1") or 1)


def store() -> Any:
    """torchrun's key-value store."""
    global _store
    if _store is None:
        try:
            from torch.distributed import PrefixStore, TCPStore
        except ImportError as error:
            raise errors.PackageMissing(
                f"there are {world()} ranks, and no torch: {error}",
                "start the ranks by torchrun, or unset WORLD_SIZE") from error
        if os.environ.get("TORCHELASTIC_USE_AGENT_STORE") != "True":
            raise errors.FailedPrecondition(
                f"WORLD_SIZE is {world()}, and torchrun has no store here",
                "start the ranks by torchrun or accelerate launch", id="PY-1013")
        made = TCPStore(os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"]),
                        is_master=False, timeout=_PATIENCE)
        life = os.environ.get("TORCHELASTIC_RESTART_COUNT", "0")
        _store = PrefixStore(f"frostline/{life}", made)
    return _store


def lead(spec: Optional[Mapping[str, Any]], link: Link) -> Link:
    """Rank 0 shows the next trial to the others; None: there is no other."""
    global _trials
    if world() == 1:
        return link
    _trials += 1
    store().set(f"trial/{_trials}", json.dumps(spec))
    return _Leader(link, f"trial/{_trials}")


def follow() -> Optional[Tuple[Dict[str, Any], Link]]:
    """The next trial of rank 0, with a link that obeys it."""
    global _trials
    _trials += 1
    spec = json.loads(store().get(f"trial/{_trials}"))
    return spec and (spec, _Follower(f"trial/{_trials}"))


class _Leader(Link):
    def __init__(self, link: Link, key: str) -> None:
        self._link, self._key, self._count = link, key, 0
        self._stop: Optional[str] = None

    def report(self, step, metrics, total_steps):
        self._stop = self._link.report(step, metrics, total_steps)
        self._count += 1
        store().set(f"{self._key}/{self._count}", json.dumps(self._stop))
        return self._stop

    def stop_reason(self):
        return self._stop  # as of the last report, which all ranks know

    def checkpoint(self, name, step):
        self._link.checkpoint(name, step)

    def hand_back(self, reason):
        self._link.hand_back(reason)

    def finish(self, state, metrics, cause, failure, usage):
        for other in range(1, world()):
            their = self._end_of(other)
            if their["state"] == "failed" and state != "failed":
                state, metrics = "failed", {}
                cause, failure = f"rank {other}: {their['cause']}", their["failure"]
        self._link.finish(state, metrics, cause, failure, usage)

    def _end_of(self, other: int) -> Dict[str, str]:
        key = f"{self._key}/end/{other}"
        try:
            store().wait([key], _LAST)
        except Exception:  # torch has no class of its own for it
            return {"state": "unknown"}
        return json.loads(store().get(key))


class _Follower(Link):
    def __init__(self, key: str) -> None:
        self._key, self._count = key, 0
        self._stop: Optional[str] = None

    def report(self, step, metrics, total_steps):
        self._count += 1
        self._stop = json.loads(store().get(f"{self._key}/{self._count}"))
        return self._stop

    def stop_reason(self):
        return self._stop

    def finish(self, state, metrics, cause, failure, usage):
        store().set(f"{self._key}/end/{rank()}", json.dumps(
            {"state": state, "cause": cause, "failure": failure}))

    def hand_back(self, reason):
        self.finish("handed back", {}, "", "", {})
