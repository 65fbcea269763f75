"""What people see in a browser: templates, styles, and the interactive reference's parts.

The pages of text need no script. Every address in them is relative, so that they work below any
prefix that a proxy puts before the service.
"""
