"""Write src/ante/engine/jokers/dispatch.py from the `@on` registrations of the joker modules.

python tools/write_dispatch.py            rewrite the file
python tools/write_dispatch.py --check    exit 1 where the committed file is stale
"""

import importlib
import os
import sys
from pathlib import Path

os.environ.setdefault("NUMBA_DISABLE_JIT", "1")
ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "src"))

from ante.catalog.jokers import Joker  # noqa: E402
from ante.engine.rule import EFFECTS, Effect, Moment  # noqa: E402

FOLDER = ROOT / "src" / "ante" / "engine" / "jokers"
TARGET = FOLDER / "dispatch.py"
NOT_EFFECTS = {"__init__", "dispatch", "lineup", "lineup_marks", "copying"}

HEADER = '''"""Which effect answers a moment, for every joker. Written by tools/write_dispatch.py; do not edit.

`<moment>(s, me, joker, card)` runs one joker's effect; `fire_<moment>(s, card)` runs the line-up, left to right.
"""

'''


def load_effects() -> list[Effect]:
    """Import every joker module; answer what they registered."""
    for file in sorted(FOLDER.glob("*.py")):
        if file.stem not in NOT_EFFECTS:
            importlib.import_module(f"ante.engine.jokers.{file.stem}")
    return EFFECTS


def condition(effects: list[Effect]) -> str:
    """When one branch of a moment is taken."""
    jokers = [f"joker == Joker.{Joker(effect.joker).name}" for effect in sorted(effects, key=lambda e: e.joker)]
    text = " or ".join(jokers)
    if effects[0].copied:
        return text
    return f"not s.copying and ({text})" if len(jokers) > 1 else f"not s.copying and {text}"


def moment_source(moment: Moment, effects: list[Effect]) -> str:
    """The dispatcher and the line-up loop of one moment."""
    name = moment.name.lower()
    lines = [
        "@rule",
        f"def {name}(s, me, joker, card):",
        f'    """{moment.name}: the joker\'s own effect, if it has one."""',
    ]
    groups: dict[tuple[str, str, bool], list[Effect]] = {}
    for effect in effects:
        groups.setdefault((effect.module, effect.function, effect.copied), []).append(effect)
    keyword = "if"
    for (module, function, _), members in sorted(groups.items(), key=lambda item: min(e.joker for e in item[1])):
        lines += [
            f"    {keyword} {condition(members)}:",
            f"        {module.rsplit('.', 1)[1]}.{function}(s, me, joker, card)",
        ]
        keyword = "elif"
    if not groups:
        lines.append("    return")
    return "\n".join(lines) + "\n\n\n" + loop_source(moment, name)


def loop_source(moment: Moment, name: str) -> str:
    """`fire_<moment>`."""
    slots = "range(card, card + 1)" if moment is Moment.SELF_SOLD else "range(MAX_JOKERS)"
    own = "working(s, slot)" if moment is Moment.WHILE_HELD else "resolve(s, slot)"
    return f'''@rule
def fire_{name}(s, card):
    """{moment.name} for {"the joker in slot `card`" if moment is Moment.SELF_SOLD else "every working joker, left to right"}."""
    for slot in {slots}:
        if slot >= s.n_jokers:
            break
        me = {own}
        if me >= 0:
            s.acting = slot
            s.copying = 1 if me != slot else 0
            {name}(s, me, int(s.jokers[me].id), card)
'''


def source() -> str:
    """The whole file."""
    effects = load_effects()
    modules = sorted({effect.module.rsplit(".", 1)[1] for effect in effects})
    text = HEADER + "from ante.catalog.jokers import Joker\n"
    text += f"from ante.engine.jokers import {', '.join(modules)}\n"
    text += "from ante.engine.jokers.copying import resolve, working\nfrom ante.engine.rule import rule\n"
    text += "from ante.engine.state import MAX_JOKERS\n\n\n"
    return text + "\n\n".join(moment_source(moment, [e for e in effects if e.moment == moment]) for moment in Moment)


def main() -> int:
    """Write or check the file."""
    wanted = source()
    if "--check" in sys.argv[1:]:
        fresh = TARGET.exists() and TARGET.read_text() == wanted
        if not fresh:
            print(f"{TARGET.relative_to(ROOT)} is stale: run `make dispatch`", file=sys.stderr)
        return 0 if fresh else 1
    TARGET.write_text(wanted)
    print(f"{TARGET.relative_to(ROOT)}: {len(EFFECTS)} effects of {len({e.joker for e in EFFECTS})} jokers")
    return 0


if __name__ == "__main__":
    sys.exit(main())
