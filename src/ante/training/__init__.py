"""Training on Ray RLlib and torch. Each sub-package has one subject; `import-linter` keeps their order."""
