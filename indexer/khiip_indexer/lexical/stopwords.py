"""Words that questions are full of and that tell nothing about what is asked."""

from __future__ import annotations

_ENGLISH = """
a about all also am an and any are as at be because been being but by can could did do does doing
for from had has have having he her hers him his how i if in into is it its just like may me might
my of on or our ours shall she should so some such than that the their them then there these they
this those to too us was we were what when where which who whom whose why will with would you your
yours
"""
_OTHERS = """
der die das den dem des ein eine einen einer und oder ist sind war wie wo wer wann warum ich du er
sie wir ihr mit von zu zum zur im auf fur als auch nicht
le la les un une des du de et ou est sont dans sur pour avec qui que quoi comment pourquoi je il
elle nous vous ils au aux en ce cette
el los las una unos y o es son con por para como donde cuando se lo al
il lo gli uno di da che chi e per con non si
os um uma e do da dos das no na nos em por com nao
de het een en van op te met voor niet
"""

STOPWORDS = frozenset(_ENGLISH.split()) | frozenset(_OTHERS.split())
