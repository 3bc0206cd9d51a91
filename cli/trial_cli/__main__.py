"""`python -m trial_cli` is `ledger`."""

from trial_cli.main import main

main()
