"""The built-in `chat` agent: dialects of model services, and the loop of model and tools.

Invariant: why a model stopped is never guessed from its text.
"""
