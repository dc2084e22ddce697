/** The styles of the devtools, which render in a shadow root that the page's styles do not reach. */
export const STYLES = `
:host { all: initial; position: fixed; inset: auto 0 0 0; z-index: 2147483647; display: block; height: min(45vh, 28rem); }
.devtools { display: flex; flex-direction: column; height: 100%; box-sizing: border-box; font: 13px/1.4 system-ui, sans-serif; color: #1b2733; background: #fff; border-top: 2px solid #0b6e75; }
header { display: flex; gap: 0.25rem; align-items: center; padding: 0.25rem 0.5rem; overflow-x: auto; background: #eef4f4; flex: none; }
header span { margin-inline-start: auto; white-space: nowrap; color: #47606b; }
main { flex: 1; overflow: auto; padding: 0.5rem; }
button { font: inherit; color: inherit; background: none; border: 1px solid transparent; border-radius: 4px; padding: 0.2rem 0.5rem; white-space: nowrap; cursor: pointer; }
button:hover, button:focus-visible { border-color: #0b6e75; outline: none; }
button[aria-pressed='true'] { background: #0b6e75; color: #fff; }
.choices { display: flex; flex-wrap: wrap; gap: 0.25rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { text-align: start; padding: 0.15rem 0.75rem 0.15rem 0; border-bottom: 1px solid #dde6e8; vertical-align: top; white-space: pre; }
th { font-weight: 600; color: #47606b; }
.null { color: #6b7f88; font-style: italic; }
.error { color: #a4262c; white-space: pre-wrap; }
textarea { display: block; width: 100%; box-sizing: border-box; min-height: 4rem; margin-bottom: 0.25rem; font: 13px/1.4 ui-monospace, monospace; }
p { margin: 0.25rem 0; }
`;
