"""Writes the demo's HTML report: one self-contained file with inline SVG, readable offline."""

import html

WIDTH, HEIGHT, LEFT, BOTTOM, TOP = 860, 300, 50, 30, 12

STYLE = """
body{font:15px/1.5 system-ui,sans-serif;max-width:900px;margin:2rem auto;padding:0 1rem;
color:#1c2430;background:#fff}
h1{font-size:1.4rem} h2{font-size:1.1rem;margin-top:2rem} table{border-collapse:collapse}
td,th{padding:.25rem .9rem .25rem 0;text-align:left;border-bottom:1px solid #e3e7ec}
td.n{text-align:right;font-variant-numeric:tabular-nums} .ok{color:#0a7d38}.bad{color:#b3261e}
svg{width:100%;height:auto} .axis{stroke:#8b95a3} .kill{stroke:#b3261e;stroke-dasharray:3 3}
.line{fill:none;stroke:#1f5fbf;stroke-width:2} text{font-size:12px;fill:#4a5563}
@media(prefers-color-scheme:dark){body{background:#12161c;color:#dfe5ec}td,th{border-color:#2b333d}
text{fill:#9aa6b4}.line{stroke:#6fa8ff}.kill{stroke:#ff8a80}.ok{color:#5fd38d}.bad{color:#ff8a80}}
"""

GUARDS = {
    "stable_key": "the same key was sent again after a kill; the provider answered from its record",
    "in_progress": "a caller asked again while the obligation was open and got its state",
    "issued_periods": "a caller asked again for a billed period and got the existing charge",
    "unknown_lookup": "the provider's state was read before anything was decided",
}


def chart(history, total):
    end = max(point[0] for point in history) or 1
    top = max(total, max(point[1] for point in history), 1)

    def x(t):
        return LEFT + (WIDTH - LEFT - 10) * t / end

    def y(n):
        return TOP + (HEIGHT - TOP - BOTTOM) * (1 - n / top)

    line = " ".join(f"{x(p[0]):.1f},{y(p[1]):.1f}" for p in history)
    kills = "".join(
        f'<line class="kill" x1="{x(p[0]):.1f}" x2="{x(p[0]):.1f}" '
        f'y1="{TOP}" y2="{HEIGHT - BOTTOM}">'
        f"<title>SIGKILL at {p[0]:.2f} s, {p[1]} charged</title></line>"
        for p in history
        if len(p) > 2
    )
    labels = "".join(
        f'<text x="{LEFT - 8}" y="{y(n) + 4:.1f}" text-anchor="end">{n}</text>'
        for n in (0, top // 2, top)
    ) + "".join(
        f'<text x="{x(end * k / 4):.1f}" y="{HEIGHT - 8}" text-anchor="middle">'
        f"{end * k / 4:.1f} s</text>"
        for k in range(5)
    )
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'aria-label="charges over time, kills marked">'
        f'<line class="axis" x1="{LEFT}" x2="{WIDTH - 10}" y1="{HEIGHT - BOTTOM}" '
        f'y2="{HEIGHT - BOTTOM}"/>'
        f'<line class="axis" x1="{LEFT}" x2="{LEFT}" y1="{TOP}" y2="{HEIGHT - BOTTOM}"/>'
        f'{labels}{kills}<polyline class="line" points="{line}"/></svg>'
    )


def row(*cells):
    return "<tr>" + "".join(
        f'<td class="n">{c}</td>' if isinstance(c, int) else f"<td>{html.escape(str(c))}</td>"
        for c in cells
    ) + "</tr>"  # fmt: skip


def write_report(path, history, ledger, tally, facts):
    clean = not facts["duplicates"] and not facts["unbilled"] and facts["verify"]
    verdict = "exactly one charge each" if clean else "NOT exactly one charge each"
    guards = "".join(row(g, tally[g], text) for g, text in GUARDS.items())
    sums = {}
    for charge in ledger:
        count, amount = sums.get(charge["currency"], (0, 0))
        sums[charge["currency"]] = (count + 1, amount + charge["amount"])
    money = "".join(row(c, n, a) for c, (n, a) in sorted(sums.items()))
    figures = (
        row("charges in the provider's ledger", facts["charges"])
        + row("duplicates", facts["duplicates"])
        + row("unbilled", facts["unbilled"])
        + row("provider POSTs", facts["posts"])
        + row("distinct keys", facts["keys"])
        + row("journal verify", "clean" if facts["verify"] else "differences found")
    )
    page = f"""<!doctype html><html lang="en"><meta charset="utf-8">
<meta name="viewport" content="width=device-width"><title>onceward demo</title>
<style>{STYLE}</style>
<h1>Billing run with {facts['kills']} kills:
<span class="{'ok' if clean else 'bad'}">{verdict}</span></h1>
<table>{figures}</table>
<h2>Charges over time; each dashed line is a SIGKILL of the node</h2>
{chart(history, facts['charges'])}
<h2>Guards that acted</h2>
<table><tr><th>guard</th><th>times</th><th>what it prevented</th></tr>{guards}</table>
<h2>Money by currency (minor units)</h2>
<table><tr><th>currency</th><th>charges</th><th>sum</th></tr>{money}</table>
</html>"""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(page, encoding="utf-8")
