"""The measured effects of the knowledge graph over GraphQL, read-only."""
