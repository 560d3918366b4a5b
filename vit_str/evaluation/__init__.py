"""A reader and labeled images -> how well it reads them: a room for each command.

``words`` is ``vit-str evaluate``, ``pages`` the same with ``--page``, ``calibration`` is ``vit-str
calibrate``. ``metrics`` and ``statistics`` are what all of them measure with.
"""
