"""Odds of what the shop and booster packs offer; prices and rates of a run are in constants.py.

A poll is a random number from 0 to 1; `ABOVE` names the bound that it must exceed.
"""

SOUL_ABOVE = 0.997  # a card of an Arcana, Celestial or Spectral pack is The Soul or Black Hole

STANDARD_ENHANCED_ABOVE = 0.6  # a Standard pack's card is enhanced
STANDARD_SEAL_ABOVE = 0.8  # it has a seal
STANDARD_EDITION_TIMES = 2.0  # how much more often it has an edition than a joker does

ILLUSION_ENHANCED_ABOVE = 0.6  # Illusion: a playing card of the shop is enhanced
ILLUSION_EDITION_ABOVE = 0.8  # it has an edition

SURE_EDITION_TIMES = 25.0  # The Wheel of Fortune and Aura: so often that every poll gives an edition

SELL_DIVISOR = 2  # an item sells for its cost divided by this, rounded down
LOWEST_PRICE = 1  # of an item that is for sale, and of one that is sold
