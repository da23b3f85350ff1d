"""Odds of the items in the shop and in booster packs; prices and rates of a run are in constants.py.

A roll is a random number from 0 to 1. It must exceed the bound named `ABOVE`.
"""

SOUL_ABOVE = 0.997  # a card of an Arcana, Celestial or Spectral pack is The Soul or Black Hole

STANDARD_ENHANCED_ABOVE = 0.6  # a Standard pack's card is enhanced
STANDARD_SEAL_ABOVE = 0.8  # it has a seal
STANDARD_EDITION_TIMES = 2.0  # factor on the probability of an edition, relative to a joker's

ILLUSION_ENHANCED_ABOVE = 0.6  # Illusion: a playing card of the shop is enhanced
ILLUSION_EDITION_ABOVE = 0.8  # it has an edition

SURE_EDITION_TIMES = 25.0  # The Wheel of Fortune and Aura: a factor with which every roll gives an edition

SELL_DIVISOR = 2  # the sell value is the cost divided by this, rounded down
LOWEST_PRICE = 1  # minimum price of an item for sale, and minimum sell value
