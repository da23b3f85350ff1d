"""Presets: files of settings that `ante train --preset NAME` selects, and their lookup by name."""
