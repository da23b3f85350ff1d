"""Candidates without a target: those that end a phase of the game, skipping, and rerolls."""

from ante.engine.actions import Verb, can_pay, can_reroll_boss
from ante.engine.core.rule import rule
from ante.engine.core.state import Phase
from ante.engine.items.vouchers import boss_reroll_price
from ante.engine.shop import reroll_price
from ante.lookahead.items import write_price
from ante.lookahead.records import LEGAL, TAG_BASE, add_candidate

BOSS = 2  # of s.blind_on_deck; it cannot be skipped


@rule
def list_phase_actions(s, out):
    """List the decisions of the phase without a target. They are listed first, so they always fit."""
    if s.phase == Phase.BLIND_SELECT:
        add_candidate(out, Verb.SELECT_BLIND, 0, 0, 0, LEGAL)
        if s.blind_on_deck < BOSS:
            tag = int(s.skip_tags[s.blind_on_deck])
            add_candidate(out, Verb.SKIP_BLIND, 0, 0, TAG_BASE + tag, LEGAL)
        if can_reroll_boss(s):
            k = add_candidate(out, Verb.REROLL_BOSS, 0, 0, 0, LEGAL)
            write_price(s, out.entries[k], boss_reroll_price(s))
    elif s.phase == Phase.ROUND_END:
        add_candidate(out, Verb.CASH_OUT, 0, 0, 0, LEGAL)
    elif s.phase == Phase.SHOP:
        add_candidate(out, Verb.NEXT_ROUND, 0, 0, 0, LEGAL)
        price = int(reroll_price(s))
        if can_pay(s, price):
            k = add_candidate(out, Verb.REROLL, 0, 0, 0, LEGAL)
            write_price(s, out.entries[k], price)
    elif s.phase == Phase.PACK:
        add_candidate(out, Verb.SKIP_PACK, 0, 0, 0, LEGAL)
