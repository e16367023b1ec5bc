"""How pages look: one style for phones and desks, light and dark."""

LIGHT = {
    "page": "#f7f5fc", "card": "#ffffff", "ink": "#1d1b2e", "soft": "#5d5a75", "edge": "#e4e0f0", "accent": "#a3258f",
    "wash": "#f1edfa", "zero": "#8d88a8",
    "c0": "#2563c9", "c1": "#d2501a", "c2": "#0f8558", "c3": "#b4399f", "c4": "#9a6c00", "c5": "#0b83a3",
    "c6": "#c8243f", "c7": "#6353cf",
}  # fmt: skip
DARK = {
    "page": "#13121f", "card": "#1c1b2c", "ink": "#edeaf8", "soft": "#a9a5c4", "edge": "#322f4a", "accent": "#f08fdf",
    "wash": "#26243a", "zero": "#8d88ac",
    "c0": "#6fa9ff", "c1": "#ff9566", "c2": "#4fd09a", "c3": "#ee86de", "c4": "#e9bb40", "c5": "#50c8e8",
    "c6": "#ff7d8f", "c7": "#aaa0ff",
}  # fmt: skip

PHONE = 640
"""Windows at most this wide get the narrow figures."""

RULES = """
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;scroll-behavior:smooth}
body{margin:0;background:var(--page);color:var(--ink);font:16px/1.6 ui-rounded,system-ui,"Segoe UI",sans-serif}
main,header,footer{max-width:1040px;margin:0 auto;padding:0 20px}
header{padding-top:36px}
header svg.candies{display:block;height:44px;width:auto;margin-bottom:14px}
h1{font-size:clamp(1.7rem,5vw,2.5rem);line-height:1.15;letter-spacing:-.02em;margin:0 0 .4em;text-wrap:balance}
h2{font-size:1.35rem;letter-spacing:-.01em;margin:2.4em 0 .5em;scroll-margin-top:16px}
h3{font-size:1.05rem;margin:1.6em 0 .3em}
.lead{font-size:1.13rem;max-width:46em;margin:0 0 1em}
p,li{max-width:46em}p{margin:.5em 0 1em}
h1,h3,p,li,figcaption,.note{overflow-wrap:anywhere}
ul{padding-left:1.2em}
a{color:var(--accent)}
nav{display:flex;flex-wrap:wrap;gap:6px 8px;margin:18px 0 0}
nav a{font-size:.86rem;text-decoration:none;padding:3px 12px;border-radius:99px;background:var(--wash);color:var(--ink)}
nav a:hover{background:var(--accent);color:var(--card)}
code,pre{font-family:ui-monospace,"Cascadia Mono",Menlo,Consolas,monospace;font-size:.86em}
code{background:var(--wash);border-radius:5px;padding:.1em .35em;overflow-wrap:anywhere}
pre{background:var(--wash);border-radius:10px;padding:12px 14px;margin:.5em 0 1em;overflow-x:auto;line-height:1.5}
pre.wrap{white-space:pre-wrap;overflow-wrap:anywhere}
figure,.card,.scroll{background:var(--card);border:1px solid var(--edge);border-radius:14px;margin:14px 0 20px}
figure{padding:16px 18px 12px}
figcaption{font-size:.9rem;color:var(--soft);margin-top:8px;max-width:56em}
.beside{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,420px),1fr));gap:0 18px}
.scroll{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-size:.93rem;font-variant-numeric:tabular-nums}
th{font-size:.78rem;font-weight:600;color:var(--soft);text-align:right;vertical-align:bottom;line-height:1.25}
th,td{padding:9px 14px;border-bottom:1px solid var(--edge);text-align:right}
tr:last-child td{border-bottom:0}
tbody tr:hover{background:var(--wash)}
.left{text-align:left}
td.left{overflow-wrap:anywhere;min-width:7em}
small{color:var(--soft);white-space:nowrap;font-size:.84em}
td small{display:block;line-height:1.2}
td.left small{display:inline}
.note{border-left:4px solid var(--accent);background:var(--wash);border-radius:0 10px 10px 0;padding:8px 14px;
max-width:48em;margin:12px 0}
details{margin:10px 0 18px}
summary{cursor:pointer;font-weight:600;padding:4px 0}
dl{display:grid;grid-template-columns:max-content 1fr;gap:4px 18px;margin:.6em 0;font-size:.93rem}
dt{color:var(--soft)}
dd{margin:0;overflow-wrap:anywhere}
footer{color:var(--soft);font-size:.86rem;padding-top:28px;padding-bottom:48px}
svg{display:block;max-width:100%;height:auto}
svg.sign{display:inline-block;width:15px;height:15px;vertical-align:-2px;margin-right:8px}
svg text{font:12px ui-rounded,system-ui,"Segoe UI",sans-serif;font-variant-numeric:tabular-nums}
svg .ink{fill:var(--ink)}svg .faint{fill:var(--soft)}svg .name{fill:var(--soft);font-weight:600}
svg .halo{paint-order:stroke;stroke:var(--card);stroke-width:3px;stroke-linejoin:round}
svg .light{fill:#fff}svg .dark{fill:#14122b}svg .none{fill:var(--wash)}
svg .grid{stroke:var(--edge);fill:none}svg .zero{stroke:var(--zero);stroke-dasharray:4 4;stroke-width:1.5}
svg .line{fill:none;stroke:var(--c);stroke-width:2.2;stroke-linejoin:round}
svg .dashed{stroke-dasharray:6 5}
svg .band{fill:var(--c);opacity:.16;stroke:none}
svg .bar{stroke:var(--c);stroke-width:1.6;fill:none}
svg .span{stroke:var(--c);stroke-width:6;stroke-linecap:round;opacity:.38;fill:none}
svg .box{fill:var(--c);fill-opacity:.22;stroke:var(--c);stroke-width:1.4}
svg .median{stroke:var(--c);stroke-width:3;fill:none}
svg .mark{fill:var(--c);stroke:var(--card);stroke-width:4}svg circle.mark{stroke-width:.5}
.narrow{display:none}
@media(max-width:PHONEpx){
main,header,footer{padding-left:14px;padding-right:14px}
figure{padding:12px 10px 10px}
th,td{padding:8px 9px}
td.left{min-width:5.5em}
.wide{display:none}.narrow{display:block}
dl{grid-template-columns:1fr}dd{margin-bottom:8px}
table.stack thead{display:none}
table.stack tr{padding:12px 4px;border-bottom:1px solid var(--edge)}
table.stack tr:last-child{border-bottom:0}
table.stack tr{display:grid;grid-template-columns:repeat(3,1fr);gap:6px 10px}
table.stack td{border:0;padding:0 8px;text-align:left;overflow-wrap:anywhere;min-width:0}
table.stack td:first-child,table.stack td.left{grid-column:1/-1}
table.stack small{white-space:normal}
table.stack td:first-child{font-weight:600;font-size:1.02em}
table.stack td:not(:first-child)::before{content:attr(data-label);display:block;color:var(--soft);font-size:.76em;
line-height:1.3}
}
@media print{body{background:#fff}figure,.scroll{break-inside:avoid}nav{display:none}}
"""


def _variables(colours: dict[str, str]) -> str:
    return ";".join(f"--{name}:{value}" for name, value in colours.items())


def style() -> str:
    """The style sheet of a page."""
    series = "".join(f".c{i}{{--c:var(--c{i})}}" for i in range(8))
    rules = RULES.replace("PHONE", str(PHONE)).replace("\n", "")
    return (
        f":root{{color-scheme:light dark;{_variables(LIGHT)}}}"
        f"@media(prefers-color-scheme:dark){{:root{{{_variables(DARK)}}}}}{series}{rules}"
    )
