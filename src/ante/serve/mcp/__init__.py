"""An MCP server: tools that inspect runs, replays and seeds, advise on decisions and play games; reports and videos."""
