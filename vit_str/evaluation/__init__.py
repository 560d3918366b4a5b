"""A reader and labeled images -> how well it reads them, with 95 % intervals.

Images come from `vit_str.datasets`; ``words`` has what was read in them, ``report`` scores it;
``breakdown``, ``confusions`` and ``mistakes`` say where it goes wrong, ``markdown`` and ``changes``
write that down; ``comparison`` is about two models, ``calibration`` and ``temperature`` are about
what a confidence means.
"""
