"""How a report looks as a page: light, dark, printed, on a phone.

Invariant: every text has a contrast of at least 4.5 to 1 in both schemes (WCAG 2.2, 1.4.3), and no
meaning is carried by colour alone. Nothing is loaded from anywhere.

Colours of the charts: Okabe and Ito 2008, which people with any colour vision can tell apart.
"""

import base64
from hashlib import sha256

__all__ = ["STYLE", "security_policy"]

STYLE = """
:root{color-scheme:light dark;--b:#fff;--f:#1b1d1f;--m:#54595d;--l:#0b57a4;--e:#9c2a00;--g:#00694c;
--r:#c9ced2;--s:#f3f5f6}
@media(prefers-color-scheme:dark){:root{--b:#14171a;--f:#e6e8ea;--m:#b0b7bc;--l:#8ab8f5;--e:#ff9e7d;
--g:#5fd3ac;--r:#464d53;--s:#1e2327}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:76rem;padding:1rem;background:var(--b);color:var(--f);
font:1rem/1.5 system-ui,sans-serif;overflow-wrap:anywhere}
h1{font-size:1.6rem;margin:.2rem 0}h2{font-size:1.35rem;margin:2rem 0 .5rem;border-top:2px solid
var(--r);padding-top:1rem}h3{font-size:1.1rem;margin:1.6rem 0 .4rem}h4{font-size:1rem;margin:1rem 0
.3rem}p{margin:.4rem 0}
a{color:var(--l)}a:focus-visible,summary:focus-visible,.w:focus-visible{outline:3px solid var(--l)}
code,pre{font:.875rem/1.45 ui-monospace,monospace}pre{white-space:pre-wrap;background:var(--s);
padding:.6rem;margin:.4rem 0}
.m{color:var(--m)}.e{color:var(--e)}.g{color:var(--g)}
.bad{border:3px solid var(--e);padding:.5rem .8rem;margin:.8rem 0;font-weight:600}
.c{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,17rem),1fr));gap:.8rem}
.k{border:1px solid var(--r);padding:.6rem .8rem}.n{font-size:1.5rem;font-weight:650}
.w{overflow-x:auto;margin:.4rem 0}
table{border-collapse:collapse;width:100%;font-size:.9rem}
caption{text-align:left;color:var(--m);padding:.2rem 0}
th,td{border-bottom:1px solid var(--r);padding:.25rem .6rem .25rem 0;text-align:left;
vertical-align:top;min-width:4rem;overflow-wrap:break-word}
ul{margin:.3rem 0;padding-left:1.2rem}
figure{margin:.6rem 0}svg{display:block;width:100%;max-width:30rem;height:auto}
svg text{font:11px system-ui,sans-serif;fill:var(--f)}svg .v{text-anchor:end}
.ax{fill:var(--s);stroke:var(--r)}rect.z{stroke:var(--b);stroke-width:.6}
.p1{fill:#009e73;background:#009e73}.p2{fill:#56b4e9;background:#56b4e9}
.p3{fill:#d55e00;background:#d55e00}.p4{fill:#cc79a7;background:#cc79a7}
.p5{fill:#e69f00;background:#e69f00}.p6{fill:#0072b2;background:#0072b2}
.p7{fill:#8c9196;background:#8c9196}
.y{display:inline-block;width:.8em;height:.8em;margin-right:.35em;border:1px solid var(--f);
print-color-adjust:exact;-webkit-print-color-adjust:exact}
.o{list-style:none;padding:0}.o li{display:inline-block;margin-right:1.1rem}
svg{print-color-adjust:exact;-webkit-print-color-adjust:exact}
details{border-bottom:1px solid var(--r);padding:.3rem 0;content-visibility:auto;
contain-intrinsic-size:auto 2.2rem}summary{cursor:pointer}
.t{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,15rem),1fr));gap:.2rem 1.2rem;
padding:.3rem 0 .6rem 1rem}.t>div{min-width:0;white-space:pre-wrap;unicode-bidi:plaintext}
.t b{display:block;color:var(--m);font-weight:600;font-size:.85em}.x,summary span{
unicode-bidi:plaintext}.x{white-space:pre-wrap}
dl{display:grid;grid-template-columns:minmax(7rem,max-content) 1fr;gap:.15rem 1rem;margin:.4rem 0}
dt{color:var(--m)}dd{margin:0;min-width:0}
@media print{:root{--b:#fff;--f:#000;--m:#444;--l:#000;--e:#8a2500;--g:#005a41;--r:#999;--s:#f3f3f3;
color-scheme:light}html{font-size:9.5pt}body{max-width:none;padding:0}nav{display:none}
h2,h3,h4,summary{break-after:avoid}figure,.k,.t,tr{break-inside:avoid}.w{overflow:visible}
details{content-visibility:visible}details::details-content{content-visibility:visible;
display:block}a{text-decoration:none}}
"""
"""The style sheet, the only one; short names keep a page of 5,000 trials small."""


def security_policy() -> str:
    """Return the content policy of the page: this style sheet and nothing else, not even images.

    Source: Content Security Policy Level 3, hash sources.
    """
    digest = base64.b64encode(sha256(STYLE.encode()).digest()).decode()
    return f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
