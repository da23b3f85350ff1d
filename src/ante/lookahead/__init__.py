"""Candidate actions with estimated effects: which decisions of a game are worth considering, and what each would bring.

`candidates.py` is the way in: `list_candidates` lists the candidates of one game or of a batch, `decisions_of` turns
entries of a list into macro decisions, and `describe.py` puts an entry into words. Policies, hints, search and people
read the same lists. Nothing hidden from the player is used. Each phase of the game has its module: phases (decisions
without a target), plays, discards, shop (with open packs), consumables, jokers.

Terms:

candidate        a macro decision that is listed, with estimates of its effect (`records.candidate_t`)
estimate         one byte that estimates the result of a candidate; the kinds depend on its verb
determinised     a copy of the game without hidden information: other random streams, no face-down cards
reference hand   a typical hand of one poker hand, such as a pair of tens; eight cards, five of them or fewer played
strength         log10 of the chips that a reference hand scores with the jokers and levels of this game
gain             change of strength, log10
needed           chips still needed to beat the blind in play, or the next one
purpose          what a discard is for (such as completing a flush), or the poker hand that a play makes
padding          cards that are added to a play only to replace them: they do not score
swap             selling the weakest joker to make room for one on offer
"""
