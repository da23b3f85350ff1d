"""Generate the dispatchers of jokers, bosses and consumables from the registrations of their functions.

python tools/write_dispatch.py            rewrite the files
python tools/write_dispatch.py --check    exit 1 if a committed file is stale
"""

import importlib
import os
import sys
from dataclasses import dataclass
from enum import Enum, IntEnum
from pathlib import Path

os.environ.setdefault("NUMBA_DISABLE_JIT", "1")
ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "src"))

from ante.catalog.blinds import Blind  # noqa: E402
from ante.catalog.consumables import Consumable  # noqa: E402
from ante.catalog.jokers import Joker  # noqa: E402
from ante.engine.effects.moments import (  # noqa: E402
    EFFECTS,
    RESULTS,
    BossMoment,
    ConsumableMoment,
    Effect,
    Moment,
)

ENGINE = ROOT / "src" / "ante" / "engine"
NOT_EFFECTS = {"__init__", "dispatch", "lineup", "copying"}
LINEUP_MOMENTS = '''
ACTS_AT = moments_of(Joker)
MAY_ACT_AT = ACTS_AT.copy()
MAY_ACT_AT[[Joker.BLUEPRINT, Joker.BRAINSTORM]] = -1  # like any other joker


@rule
def lineup_moments(s):
    """Return the moments at which some joker of the line-up acts, debuffed or not, as bits 1 << Moment."""
    bits = 0
    for slot in range(s.n_jokers):
        bits |= ACTS_AT[s.jokers[slot].id]
    return bits
'''


@dataclass(frozen=True)
class Dispatcher:
    """One generated file: a function per moment, which calls the effect of the acting item.

    path       path of the file below src/ante/engine
    modules    modules that register the effects
    arguments  arguments of an effect, among them `item`, the number of the acting item
    called     arguments of the dispatcher
    first      first line of the dispatcher, "" for none
    """

    path: str
    modules: tuple[str, ...]
    moments: type[Enum]
    items: type[IntEnum]
    item: str
    prefix: str
    arguments: str
    called: str
    first: str
    header: str


JOKERS = Dispatcher(
    path="jokers/dispatch.py",
    modules=tuple(
        f"jokers.{file.stem}" for file in sorted((ENGINE / "jokers").glob("*.py")) if file.stem not in NOT_EFFECTS
    ),
    moments=Moment,
    items=Joker,
    item="joker",
    prefix="",
    arguments="s, me, joker, card",
    called="s, me, joker, card",
    first="",
    header='''"""Dispatchers of joker effects, by moment. Written by tools/write_dispatch.py; do not edit.

`<moment>(s, me, joker, card)` runs one joker's effect; `fire_<moment>(s, card)` runs the line-up, left to right.
"""
''',
)
BOSSES = Dispatcher(
    path="effects/boss_dispatch.py",
    modules=("effects.bosses",),
    moments=BossMoment,
    items=Blind,
    item="boss",
    prefix="boss_",
    arguments="s, boss, card",
    called="s, card",
    first="boss = bosses.active_boss(s)",
    header='"""Dispatchers of boss effects, by moment. Written by tools/write_dispatch.py; do not edit."""\n',
)
CONSUMABLES = Dispatcher(
    path="effects/consumable_dispatch.py",
    modules=("effects.consumables",),
    moments=ConsumableMoment,
    items=Consumable,
    item="consumable",
    prefix="consumable_",
    arguments="s, consumable, cards, freed",
    called="s, consumable, cards, freed",
    first="",
    header='"""Dispatchers of consumable effects, by moment. Written by tools/write_dispatch.py; do not edit."""\n',
)


def condition(effects: list[Effect], dispatcher: Dispatcher) -> str:
    """Return the condition of one branch of a moment."""
    items = sorted(effects, key=lambda effect: effect.item)
    text = " or ".join(f"{dispatcher.item} == {dispatcher.items.__name__}.{effect.item.name}" for effect in items)
    if effects[0].copied:
        return text
    return f"not s.copying and ({text})" if len(items) > 1 else f"not s.copying and {text}"


def moment_source(moment: Enum, dispatcher: Dispatcher) -> str:
    """Return the dispatcher of one moment, for jokers with the loop over the line-up."""
    name = dispatcher.prefix + moment.name.lower()
    lines = [
        "@rule",
        f"def {name}({dispatcher.called}):",
        f'    """{moment.name}: the {dispatcher.item}\'s own effect, if it has one."""',
    ]
    groups: dict[tuple[str, str, bool], list[Effect]] = {}
    for effect in EFFECTS:
        if effect.moment is moment:
            groups.setdefault((effect.module, effect.function, effect.copied), []).append(effect)
    if dispatcher.first:
        lines.append(f"    {dispatcher.first}")
    returns = moment in RESULTS
    keyword = "if"
    for (module, function, _), members in sorted(groups.items(), key=lambda item: min(e.item for e in item[1])):
        lines += [
            f"    {keyword} {condition(members, dispatcher)}:",
            f"        {'return ' * returns}{module.rsplit('.', 1)[1]}.{function}({dispatcher.arguments})",
        ]
        keyword = "if" if returns else "elif"
    if returns:
        lines.append(f"    return {RESULTS[moment]!r}")
    elif not groups:
        lines.append("    return")
    text = "\n".join(lines) + "\n"
    return f"{text}\n\n{loop_source(moment, name)}" if dispatcher is JOKERS else text


def loop_source(moment: Enum, name: str) -> str:
    """Return the source of `fire_<moment>`."""
    slots = "range(card, card + 1)" if moment is Moment.SELF_SOLD else "range(MAX_JOKERS)"
    own = "working(s, slot)" if moment is Moment.WHILE_HELD else "resolve(s, slot)"
    return f'''@rule
def fire_{name}(s, card):
    """{moment.name} for {"the joker in slot `card`" if moment is Moment.SELF_SOLD else "every working joker, left to right"}."""
    for slot in {slots}:
        if slot >= s.n_jokers:
            break
        if not MAY_ACT_AT[s.jokers[slot].id] & {1 << moment.value}:
            continue
        me = {own}
        if me >= 0:
            s.acting = slot
            s.copying = 1 if me != slot else 0
            {name}(s, me, int(s.jokers[me].id), card)
'''


def source(dispatcher: Dispatcher) -> str:
    """Return the source of a generated file."""
    for module in dispatcher.modules:
        importlib.import_module(f"ante.engine.{module}")
    package = dispatcher.modules[0].split(".")[0]
    used = sorted({e.module.rsplit(".", 1)[1] for e in EFFECTS if isinstance(e.moment, dispatcher.moments)})
    text = f"{dispatcher.header}\nfrom {dispatcher.items.__module__} import {dispatcher.items.__name__}\n"
    text += "from ante.engine.core.rule import rule\n"
    if dispatcher is JOKERS:
        text += "from ante.engine.core.state import MAX_JOKERS\n"
        text += "from ante.engine.effects.moments import moments_of\n"
        text += f"from ante.engine.jokers import (\n{''.join(f'    {name},{chr(10)}' for name in used)})\n"
        text += f"from ante.engine.jokers.copying import resolve, working\n{LINEUP_MOMENTS}"
    else:
        text += f"from ante.engine.{package} import {', '.join(used)}\n"
    return text + "\n\n" + "\n\n".join(moment_source(moment, dispatcher) for moment in dispatcher.moments)


def main() -> int:
    """Write or check the files in the order of their imports."""
    for dispatcher in (BOSSES, CONSUMABLES, JOKERS):
        target, wanted = ENGINE / dispatcher.path, source(dispatcher)
        if "--check" not in sys.argv[1:]:
            target.write_text(wanted)
            effects = [effect for effect in EFFECTS if isinstance(effect.item, dispatcher.items)]
            print(f"{target.relative_to(ROOT)}: {len(effects)} effects of {len({e.item for e in effects})} items")
        elif not target.exists() or target.read_text() != wanted:
            print(f"{target.relative_to(ROOT)} is stale: run `make dispatch`", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
