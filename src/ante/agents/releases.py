"""Released policies by name: in the wheel, or in `models/` of a checkout. This module only finds their folders."""

from pathlib import Path

PACKAGE = Path(__file__).parents[1]
PLACES = (PACKAGE / "models", PACKAGE.parents[1] / "models")  # in an installed package, in a checkout
WHITE_STAKE = "white-stake"  # the reference of `ante bench strength`
STRONGEST = "white-stake-4"  # advises players


def policy_folder(name: str | Path) -> Path:
    """Return the folder of a run, of a release, or of a released policy by its name.

    Args:
        name: A folder, which takes precedence, or the name of a released policy: `white-stake` or `models/white-stake`.

    Returns:
        The folder; the path itself, which need not exist, if there is no released policy of this name.
    """
    given = Path(name)
    if given.is_dir():
        return given
    word = given.name if given.parent == Path("models") else str(name)
    found = (place / word for place in PLACES if word and Path(word).name == word)
    return next((folder for folder in found if (folder / "policy.json").is_file()), given)


def policy_at(name: str, checkpoint: str = "best") -> tuple[Path, str]:
    """Return the folder of a policy, as `policy_folder`, and the checkpoint: that of RUN@CHECKPOINT, or the given one."""
    if "@" in name and not Path(name).exists():
        name, _, checkpoint = name.rpartition("@")
    return policy_folder(name), checkpoint


def released_policies() -> list[str]:
    """Return the names of the policies that are part of the package."""
    return sorted({file.parent.name for place in PLACES for file in place.glob("*/policy.json")})
