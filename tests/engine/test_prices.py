"""Prices and sell values, against the recorded rules."""

import pytest

from ante.engine.items.prices import discounted, price, sell_value
from ante.engine.run import new_run
from tests.support.table import own


@pytest.mark.parametrize(
    ("base", "inflation", "voucher", "dollars"),
    [
        (5, 0, "", 5),
        (10, 0, "v_clearance_sale", 7),
        (1, 0, "v_liquidation", 1),
        (10, 0, "v_liquidation", 5),
        (4, 3, "", 7),
        (14, 0, "v_clearance_sale", 10),  # 14.5 x 0.75 = 10.875
    ],
)
def test_price_of_an_item(base: int, inflation: int, voucher: str, dollars: int) -> None:
    s = new_run("TESTSEED")
    s.inflation = inflation
    if voucher:
        s.vouchers[{"v_clearance_sale": 3, "v_liquidation": 4}[voucher]] = 1
    assert discounted(s, base) == dollars


def test_sell_value_is_half_the_price_and_never_nothing() -> None:
    s = new_run("TESTSEED")
    own(s, "j_joker")
    joker = s.jokers[0]
    values = []
    for cost in (0, 1, 2, 5, 8):
        joker.cost = cost
        values.append(sell_value(joker))
    assert values == [1, 1, 1, 2, 4]
    joker.cost, joker.extra_sell = 5, 3
    assert sell_value(joker) == 5
    price(s, joker)
    assert joker.cost == 2
