"""Pages: self-contained HTML with tables and figures, for leaderboards, comparisons and studies.

Page(title, lead, (section("Result", prose(...), figure(line_plot(...)), table(...)), ...)).write("page.html")
"""

from experiments.report.blocks import (
    HALF,
    PHONE,
    WIDE,
    Compared,
    against_paper,
    beside,
    bullets,
    commands,
    facts,
    figure,
    folded,
    note,
    picture,
    prose,
    sign,
    subheading,
    table,
)
from experiments.report.canvas import Drawing
from experiments.report.heat import heat_map
from experiments.report.histograms import histogram_plot
from experiments.report.html import Content, Html, breakable, escape, inline, join, tag
from experiments.report.page import Page, PageError, Section, section
from experiments.report.plots import Point, Series, line_plot, scatter_plot
from experiments.report.rowplots import Box, Span, box_plot, interval_plot
from experiments.report.scales import Scale, counted, duration, percent, plain, scale_of

__all__ = [
    "HALF", "PHONE", "WIDE", "Box", "Compared", "Content", "Drawing", "Html", "Page", "PageError", "Point", "Scale",
    "Section", "Series", "Span", "against_paper", "beside", "box_plot", "breakable", "bullets", "commands", "counted",
    "duration", "escape", "facts", "figure", "folded", "heat_map", "histogram_plot", "inline", "interval_plot", "join",
    "line_plot", "note", "percent", "picture", "plain", "prose", "scale_of", "scatter_plot", "section", "sign",
    "subheading", "table", "tag",
]  # fmt: skip
