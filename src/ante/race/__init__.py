"""Two-player races on one seed, the multiplayer rules "Attrition": rules, batches, PettingZoo environments and ratings."""
