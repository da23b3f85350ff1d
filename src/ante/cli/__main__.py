"""Entry point of `python -m ante.cli`."""

from ante.cli import main

main()
