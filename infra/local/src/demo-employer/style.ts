export const style = `
:root { color-scheme: light dark; --line: light-dark(#dfe3e8, #343a45); --back: light-dark(#f4f6f8, #14161b);
  --card: light-dark(#fff, #1c1f26); --text: light-dark(#1b1f27, #e6e9ee); --quiet: light-dark(#57606e, #a3abb8);
  --brand: light-dark(#14532d, #86d6a4); --band: #14532d; }
* { box-sizing: border-box; }
body { margin: 0; background: var(--back); color: var(--text); font: 16px/1.55 system-ui, sans-serif; }
header { background: var(--band); color: #fff; }
header p { margin: .25rem 0 0; opacity: .85; }
header > div, main { max-width: 49rem; margin: 0 auto; padding: 1.5rem; }
h1 { margin: 0; font-size: 1.6rem; line-height: 1.25; }
h2 { margin: 0 0 .25rem; font-size: 1.2rem; }
a { color: var(--brand); }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 1.25rem 1.5rem; margin-bottom: 1.25rem; }
.quiet { color: var(--quiet); }
.empty { text-align: center; padding: 3rem 1.5rem; border-style: dashed; }
dl { display: grid; grid-template-columns: minmax(9rem, 16rem) minmax(0, 1fr); gap: 0; margin: 1rem 0 0; }
dt, dd { margin: 0; padding: .5rem .75rem .5rem 0; border-top: 1px solid var(--line); overflow-wrap: anywhere; }
.text { white-space: pre-line; }
dt { color: var(--quiet); }
code { font: .85em ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; overflow-wrap: anywhere; }
.badge { display: inline-block; padding: .1rem .6rem; border-radius: 99px; background: light-dark(#dcf3e4, #173b26); color: var(--brand); font-size: .85rem; font-weight: 600; }
form label, fieldset { display: block; margin: 0 0 1.1rem; }
form label > span, legend { display: block; font-weight: 600; margin-bottom: .3rem; padding: 0; }
fieldset { border: 0; padding: 0; }
fieldset label, label.check { display: flex; gap: .5rem; align-items: baseline; margin: .25rem 0; font-weight: 400; }
label.check { margin-bottom: 1.25rem; }
label.check > span { font-weight: 400; margin: 0; }
input, select, textarea { font: inherit; color: inherit; }
input:not([type=radio], [type=checkbox], [type=file]), select, textarea { width: 100%; padding: .5rem .65rem; background: var(--back); border: 1px solid light-dark(#8a93a0, #6b7482); border-radius: 6px; }
input[type=file] { max-width: 100%; }
textarea { min-height: 7rem; resize: vertical; }
:focus-visible { outline: 2px solid var(--brand); outline-offset: 2px; }
button { font: inherit; font-weight: 600; padding: .6rem 1.6rem; color: #fff; background: var(--band); border: 0; border-radius: 6px; cursor: pointer; }
.required { color: light-dark(#a32014, #ff9d91); }
@media (max-width: 34rem) { dl { grid-template-columns: 1fr; } dd { border-top: 0; padding-top: 0; } }
`;
