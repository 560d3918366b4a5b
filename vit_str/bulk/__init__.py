"""Reading images by the million: ``vit-str read --engine ray``.

The input is divided into numbered parts once, and the division is kept beside the results
(``output.py``). A part is read whole and written whole, so what is done is what is there, and a
run that was cut goes on by reading the parts that are missing. Everything but ``pool.py`` works
without Ray.
"""
