# SPDX-License-Identifier: Apache-2.0
"""Where Hydra looks for plugins: a folder that several packages share. Up to 1.3 a
plugin's class has to lie in it."""
import frostline.hydra


class FrostlineSweeper(frostline.hydra.FrostlineSweeper):
    """hydra/sweeper=frostline; see frostline/hydra.py."""
