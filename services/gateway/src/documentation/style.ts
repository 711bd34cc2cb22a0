/** The style sheet of all pages: system fonts, light and dark themes, no external resources. */
export const style = `
:root { color-scheme: light dark; --line: light-dark(#d5d9e0, #363b45); --soft: light-dark(#f5f6f8, #1d2027);
  --text: light-dark(#1b1f27, #e4e7ec); --quiet: light-dark(#525b69, #a0a8b5); --link: light-dark(#0a56b8, #82b4ff);
  --back: light-dark(#fff, #14161b); --good: light-dark(#0b6b3a, #6fd39c); --bad: light-dark(#a32014, #ff9d91); }
* { box-sizing: border-box; }
html { scroll-behavior: smooth; scroll-padding-top: 4rem; }
@media (prefers-reduced-motion: reduce) { html { scroll-behavior: auto; } }
body { margin: 0; background: var(--back); color: var(--text); font: 16px/1.55 system-ui, sans-serif;
  display: grid; grid-template-columns: 17rem minmax(0, 1fr); }
a { color: var(--link); }
:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
.skip { position: absolute; left: -99rem; }
.skip:focus { left: 1rem; top: 1rem; background: var(--back); padding: .5rem; z-index: 1; }
nav { position: sticky; top: 0; height: 100vh; overflow-y: auto; padding: 1.5rem; border-right: 1px solid var(--line); font-size: .875rem; }
nav ul { list-style: none; margin: 0 0 1rem; padding: 0; }
nav a { display: block; padding: .15rem 0; text-decoration: none; overflow-wrap: anywhere; }
nav a:hover { text-decoration: underline; }
nav h2 { font-size: .8rem; margin: 0 0 .25rem; border: 0; padding: 0; color: var(--quiet); }
main { padding: 1.5rem clamp(1rem, 4vw, 4rem) 6rem; max-width: 64rem; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0 0 1rem; }
h2 { font-size: 1.4rem; margin: 3rem 0 .5rem; padding-top: 1rem; border-top: 1px solid var(--line); }
h3 { font-size: 1.1rem; margin: 2.25rem 0 .25rem; }
h4 { font-size: .95rem; margin: 1.25rem 0 .35rem; }
p { max-width: 46rem; margin: .35rem 0 .75rem; }
code, pre { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; font-size: .86em; }
code { background: var(--soft); padding: .1em .3em; border-radius: 3px; overflow-wrap: anywhere; }
pre { background: var(--soft); border: 1px solid var(--line); border-radius: 6px; padding: .75rem 1rem; overflow-x: auto; margin: .35rem 0 .75rem; }
pre code { background: none; padding: 0; overflow-wrap: normal; }
.route { font-weight: 600; }
.verb { display: inline-block; min-width: 3.6em; }
.quiet { color: var(--quiet); }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; margin: .35rem 0 .75rem; }
th, td { text-align: left; vertical-align: top; padding: .4rem .75rem .4rem 0; border-bottom: 1px solid var(--line); }
th { font-weight: 600; color: var(--quiet); }
.ok { color: var(--good); font-weight: 600; }
.no { color: var(--bad); font-weight: 600; }
label { display: block; font-weight: 600; margin: 1rem 0 .25rem; }
input { font: inherit; width: 100%; max-width: 32rem; padding: .5rem; color: inherit; background: var(--back); border: 1px solid var(--quiet); border-radius: 6px; }
button { font: inherit; margin-top: 1.25rem; padding: .5rem 1.25rem; color: var(--back); background: var(--link); border: 0; border-radius: 6px; cursor: pointer; }
dt { font-weight: 600; margin-top: 1rem; }
dd { margin: .25rem 0 0; display: flex; flex-wrap: wrap; gap: .5rem; align-items: center; }
dd code { padding: .35rem .5rem; }
button.copy { margin: 0; padding: .3rem .9rem; font-size: .875rem; }
summary { cursor: pointer; }
.languages { position: sticky; top: 0; z-index: 1; display: flex; gap: .25rem; margin: 0 0 1rem; padding: .5rem 0; border: 0; border-bottom: 1px solid var(--line); background: var(--back); }
.languages legend, .languages input { position: absolute; opacity: 0; width: 1px; height: 1px; overflow: hidden; }
.languages label { margin: 0; padding: .25rem .9rem; border: 1px solid var(--line); border-radius: 6px; font-size: .875rem; cursor: pointer; }
.languages input:checked + label { color: var(--back); background: var(--link); border-color: var(--link); }
.languages input:focus-visible + label { outline: 2px solid var(--link); outline-offset: 2px; }
.file { margin: 1rem 0 0; }
@supports selector(:has(a)) { @media screen {
  main:has(#language-sh:checked) .choice:not(.sh), main:has(#language-ts:checked) .choice:not(.ts),
  main:has(#language-python:checked) .choice:not(.python) { display: none; } } }
figure { margin: 1rem 0; max-width: 20rem; background: #fff; border-radius: 6px; }
body.plain { display: block; }
.plain main { margin: 0 auto; max-width: 46rem; }
@media (max-width: 48rem) { body { display: block; } nav { position: static; height: auto; border-right: 0; border-bottom: 1px solid var(--line); } }
@media print { nav { display: none; } body { display: block; } }
`;
