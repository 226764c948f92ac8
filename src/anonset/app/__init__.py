"""The local web page: `anonset app`. It has no logic of its own; it calls the public API and shows what that says.

::

    server    one process: the guard, the pages, and what each tab has done so far (`work`)
    worker    one process for each tab: reads the data and computes (`tasks`)

The server never loads anybody's data: it passes on what the worker says, as JSON.
"""
