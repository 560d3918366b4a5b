"""Labeled words: how well they are read, with 95 % intervals, and where reading goes wrong.

``reading`` has a reader read the images of a data set, ``results`` holds what was read and
``report`` scores it; ``breakdown``, ``confusions`` and ``mistakes`` say where it goes wrong,
``calibration_error`` whether confidences mean what they say; ``markdown`` and ``changes`` write
that down, and ``comparison`` is about two models.
"""
