# SPDX-License-Identifier: Apache-2.0
import sys

from .leaderboard import main

sys.exit(main())
