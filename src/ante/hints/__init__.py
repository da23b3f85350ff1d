"""Strategic advice from a language model or from rules: questions, budgets, caching, checks, ledger."""
