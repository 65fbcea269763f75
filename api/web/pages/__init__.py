"""Pages for browsers: `rendering` fills templates, `guide` renders the documents of `docs/`, and
`assets` serves style sheets and scripts.

The pages of text need no script. Every address in them is relative, so that they work behind a
proxy that adds a path prefix.
"""
