"""The pages of the Python reference and their modules. mkdocstrings renders the docstrings."""

PAGES = {
    "ante": ("Notebook functions", ("ante.notebook",)),
    "env": (
        "Environments",
        (
            "ante.env",
            "ante.env.single",
            "ante.env.vector",
            "ante.env.games",
            "ante.env.reward",
            "ante.env.replay",
            "ante.wrappers",
        ),
    ),
    "lookahead": (
        "Candidate actions",
        (
            "ante.lookahead",
            "ante.lookahead.candidates",
            "ante.lookahead.environments",
            "ante.lookahead.describe",
        ),
    ),
    "policies": (
        "Policies",
        (
            "ante.training.policies.protocol",
            "ante.training.policies.registry",
            "ante.training.settings.policies",
            "ante.training.settings.algorithms",
        ),
    ),
    "players": (
        "Players and evaluation",
        (
            "ante.agents.evaluate",
            "ante.agents.baselines",
            "ante.training.players.by_name",
            "ante.search",
            "ante.search.player",
            "ante.search.protocol",
            "ante.search.determinise",
            "ante.training.players.release",
        ),
    ),
    "plugins": ("Plugins", ("ante.plugins",)),
    "storage": ("Storage", ("ante.storage.store", "ante.storage.opening", "ante.storage.publish")),
    "errors": ("Errors", ("ante.errors",)),
}


def page(name: str) -> str:
    """Return one page."""
    title, modules = PAGES[name]
    return f"# {title}\n\n" + "\n".join(f"::: {module}\n" for module in modules)
