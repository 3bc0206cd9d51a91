"""Guards: which event may follow which.

Invariant: guards are pure functions of the frozen documents and of the events of the touched run,
its parent (to the cited link) and the touched trial; they accept, or refuse with the id of the
clause, and change nothing.
"""
