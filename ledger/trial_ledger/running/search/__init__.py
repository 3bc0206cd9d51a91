"""Search providers: from a query to a request, and from a response to hits or a failure.

Invariant: an adapter is pure; it sends nothing, and it knows one host, that of its endpoint.
"""
