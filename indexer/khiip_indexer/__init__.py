"""The write side of Khiip: notes in, a `.khiip` index out."""

import os

__version__ = "0.1.0"

# NumPy's linear algebra would start a thread for each processor and let them spin between two
# products. One pass over the vectors takes half a millisecond on one thread, and a person's
# machine stays quiet. It must be said before NumPy is first imported; who has said otherwise wins.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
