"""Published algorithms: one file each. The registry is a plain dict."""

from __future__ import annotations

from anonset.data.errors import unknown
from anonset.data.spec import MethodSpec
from anonset.methods import (
    ant,
    ant_minus,
    cahd_balanced,
    cahd_blind,
    cahd_gray,
    cahd_rcm,
    crowd,
    gray_tsp,
    gsc,
    kamp,
    km_apriori,
    km_direct,
    km_optimal,
    km_refine,
    kp_crowd,
    lsh,
    nn,
    partition,
    perm_mondrian,
    pta,
)

METHODS: dict[str, MethodSpec] = {
    spec.name: spec
    for spec in (
        pta.SPEC,
        crowd.SPEC,
        gsc.SPEC,
        gray_tsp.SPEC,
        partition.SPEC,
        cahd_blind.SPEC,
        cahd_balanced.SPEC,
        cahd_gray.SPEC,
        cahd_rcm.SPEC,
        nn.SPEC,
        lsh.SPEC,
        perm_mondrian.SPEC,
        km_apriori.SPEC,
        km_direct.SPEC,
        km_optimal.SPEC,
        km_refine.SPEC,
        kamp.SPEC,
        ant.SPEC,
        ant_minus.SPEC,
        kp_crowd.SPEC,
    )
}


def method_spec(name: str) -> MethodSpec:
    """The method of this name."""
    if name not in METHODS:
        raise unknown("method", name, METHODS)
    return METHODS[name]
