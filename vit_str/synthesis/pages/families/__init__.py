"""Families of pages: a function each, that puts parts together."""

from collections.abc import Mapping

from vit_str.synthesis.pages.families import (
    arrays,
    bills,
    books,
    catalogs,
    embedded,
    forms,
    ledgers,
    letters,
    listings,
    matrices,
    mixed,
    occasions,
    office,
    outlines,
    people,
    plain,
    press,
    records,
    reports,
    schedules,
    school,
    science,
    screens,
    slips,
    trade,
    treatises,
    web,
)
from vit_str.synthesis.pages.families.family import Family

FAMILIES: Mapping[str, Family] = {
    **trade.FAMILIES,
    **letters.FAMILIES,
    **science.FAMILIES,
    **books.FAMILIES,
    **press.FAMILIES,
    **people.FAMILIES,
    **plain.FAMILIES,
    **listings.FAMILIES,
    **schedules.FAMILIES,
    **records.FAMILIES,
    **office.FAMILIES,
    **forms.FAMILIES,
    **web.FAMILIES,
    **reports.FAMILIES,
    **occasions.FAMILIES,
    **screens.FAMILIES,
    **school.FAMILIES,
    **treatises.FAMILIES,
    **arrays.FAMILIES,
    **bills.FAMILIES,
    **catalogs.FAMILIES,
    **embedded.FAMILIES,
    **ledgers.FAMILIES,
    **matrices.FAMILIES,
    **outlines.FAMILIES,
    **mixed.FAMILIES,
    **slips.FAMILIES,
}
"""All families by their names."""

HELD_OUT = (
    "payslip",
    "agenda",
    "poster",
    "recipe",
    "newspaper",
    "profile",
    "timetable",
    "ticket",
    "shop",
)
"""Families that nothing is trained on: they measure what was learned for designs not seen."""
