"""The generated pages of the documentation site: one module for each source they are written from."""
