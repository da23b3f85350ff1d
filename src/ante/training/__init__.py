"""Training with Ray RLlib and PyTorch. Each sub-package covers one subject; `import-linter` enforces their layering."""
