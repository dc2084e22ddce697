import type { SqlValue } from '@rockpool/client';

/** Creates an element with a class and children. Strings become text, never HTML. */
export function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  className: string,
  ...children: readonly (Node | string)[]
): HTMLElementTagNameMap[Tag] {
  const made = document.createElement(tag);
  if (className !== '') made.className = className;
  made.append(...children);
  return made;
}

export function button(label: string, onClick: () => void): HTMLButtonElement {
  const made = element('button', '', label);
  made.type = 'button';
  made.addEventListener('click', onClick);
  return made;
}

/** Creates a table that scrolls if it is too wide. */
export function table(names: readonly string[], rows: readonly (readonly SqlValue[])[]): HTMLElement {
  const head = element('tr', '', ...names.map((name) => element('th', '', name)));
  const body = rows.map((row) =>
    element('tr', '', ...row.map((value) => element('td', value === null ? 'null' : '', shown(value)))),
  );
  return element('div', 'scroll', element('table', '', element('thead', '', head), element('tbody', '', ...body)));
}

const LONGEST_TEXT = 200;

function shown(value: SqlValue): string {
  if (value === null) return 'NULL';
  if (value instanceof Uint8Array) return `${value.length} bytes`;
  const text = String(value);
  return text.length > LONGEST_TEXT ? `${text.slice(0, LONGEST_TEXT)}…` : text;
}

export function time(ms: number): string {
  return new Date(ms).toLocaleTimeString(undefined, { hour12: false });
}
