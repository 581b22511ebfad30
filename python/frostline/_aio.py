# SPDX-License-Identifier: Apache-2.0
"""The calls of this package under asyncio.

gRPC's own asyncio allows one loop in one thread of a process. Here each call runs in a
thread of its own instead, over the same channel as all others, so that any loop in any
thread may call. The threads are daemons: none of them keeps an interpreter from ending."""
from __future__ import annotations

import asyncio
import threading
from typing import Any, Callable, Optional


async def aside(call: Callable[[], Any], unwanted: Optional[Callable[[Any], None]] = None) -> Any:
    """What `call` returns or raises. Where nobody waits for it any more, since the task
    was cancelled or its loop has ended, `unwanted` gets the result, in that thread."""
    loop = asyncio.get_running_loop()
    future = loop.create_future()

    def settle(result: Any, error: Optional[BaseException]) -> None:
        if future.done():  # cancelled
            if error is None and unwanted is not None:
                _start(lambda: unwanted(result))
        elif error is None:
            future.set_result(result)
        else:
            future.set_exception(error)

    def run() -> None:
        result: Any = None
        error: Optional[BaseException] = None
        try:
            result = call()
        except BaseException as raised:
            error = raised
        try:
            loop.call_soon_threadsafe(settle, result, error)
        except RuntimeError:  # the loop is closed
            if error is None and unwanted is not None:
                unwanted(result)

    _start(run)
    return await future


def _start(call: Callable[[], Any]) -> None:
    threading.Thread(target=call, daemon=True, name="frostline-call").start()
