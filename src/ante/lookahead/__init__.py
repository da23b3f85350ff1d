"""Candidate actions with estimated effects: the decisions of a game that are worth considering, and their results.

`candidates.py` is the entry point: `list_candidates` lists the candidates of one game or of a batch, `decisions_of`
converts entries of a list into macro decisions, and `describe.py` describes an entry as text. Policies, hints and
search use the same lists. They contain no hidden information. `candidates.py` lists the decisions without a
target; plays, discards, shop (with open packs), consumables and jokers have a module each.

Terms:

candidate        a macro decision that is listed, with estimates of its effect (`records.candidate_t`)
estimate         one byte that estimates the result of a candidate; the kinds depend on its verb
determinised     a copy of the game without hidden information: other random streams, no face-down cards
reference hand   a typical hand of one poker hand, such as a pair of tens; eight cards, five of them or fewer played
strength         log10 of the chips that a reference hand scores with the jokers and levels of this game
gain             change of strength, log10
needed           chips that are missing to beat the current or the next blind
purpose          the goal of a discard (such as completing a flush), or the poker hand of a play
padding          cards that are added to a play only to replace them: they do not score
swap             selling the weakest joker to make room for another one

Importing this package registers `ante/BalatroShortlist-v1`, the view of the environment whose actions are candidates.
"""

import gymnasium

NAME = "ante/BalatroShortlist-v1"
if NAME not in gymnasium.registry:
    gymnasium.register(
        id=NAME,
        entry_point="ante.lookahead.environments:BalatroShortlistEnv",
        vector_entry_point="ante.lookahead.environments:BalatroShortlistVectorEnv",
    )
