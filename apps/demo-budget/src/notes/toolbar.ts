import type Quill from 'quill/core.js';

interface Tool {
  readonly name: string;
  /** Label on the button, styled as its format; not part of the accessible name. */
  readonly sign: string;
  readonly format: string;
  readonly value: boolean | number | string;
  /** With Ctrl, or Cmd on Apple keyboards. Digits are given by key position, because Shift changes their character. */
  readonly key: { readonly key: string | number; readonly shiftKey?: true; readonly altKey?: true };
  /** In the format of `aria-keyshortcuts`. */
  readonly shortcut: string;
}

const DIGITS_AT = 48;

const TOOLS: readonly Tool[] = [
  { name: 'Bold', sign: 'B', format: 'bold', value: true, key: { key: 'b' }, shortcut: 'Control+B' },
  { name: 'Italic', sign: 'I', format: 'italic', value: true, key: { key: 'i' }, shortcut: 'Control+I' },
  {
    name: 'Strikethrough',
    sign: 'S',
    format: 'strike',
    value: true,
    key: { key: 'X', shiftKey: true },
    shortcut: 'Control+Shift+X',
  },
  {
    name: 'Heading',
    sign: 'H1',
    format: 'header',
    value: 2,
    key: { key: DIGITS_AT + 1, altKey: true },
    shortcut: 'Control+Alt+1',
  },
  {
    name: 'Subheading',
    sign: 'H2',
    format: 'header',
    value: 3,
    key: { key: DIGITS_AT + 2, altKey: true },
    shortcut: 'Control+Alt+2',
  },
  {
    name: 'List',
    sign: '•',
    format: 'list',
    value: 'bullet',
    key: { key: DIGITS_AT + 8, shiftKey: true },
    shortcut: 'Control+Shift+8',
  },
  {
    name: 'Numbered list',
    sign: '1.',
    format: 'list',
    value: 'ordered',
    key: { key: DIGITS_AT + 7, shiftKey: true },
    shortcut: 'Control+Shift+7',
  },
];

/** The shortcuts in Quill's format; pressed in formatted text, a shortcut removes the format. */
export function toolBindings(): Record<string, object> {
  const bindingOf = ({ format, value, key }: Tool): object => ({
    ...key,
    shortKey: true,
    handler(this: { readonly quill: Quill }) {
      toggle(this.quill, format, value);
      return false;
    },
  });
  return Object.fromEntries(TOOLS.map((tool) => [tool.name.toLowerCase(), bindingOf(tool)]));
}

function toggle(quill: Quill, format: string, value: Tool['value']): void {
  quill.focus();
  const range = quill.getSelection();
  if (range !== null) quill.format(format, quill.getFormat(range)[format] === value ? false : value, 'user');
}

/**
 * The formats as buttons, with one tab stop: arrow keys move between them. A pressed button shows the format at the
 * cursor.
 */
export class Toolbar {
  readonly element = document.createElement('div');
  private readonly buttons: readonly HTMLButtonElement[];

  constructor(quill: Quill, label: string) {
    this.element.setAttribute('role', 'toolbar');
    this.element.setAttribute('aria-label', label);
    this.element.className = 'note-tools';
    this.buttons = TOOLS.map((tool) => toolButton(tool, quill));
    this.element.append(...this.buttons);
    this.element.addEventListener('keydown', (event) => this.step(event));
    quill.on('editor-change', () => this.show(quill));
    this.stop(0);
    this.show(quill);
  }

  private show(quill: Quill): void {
    const range = quill.hasFocus() ? quill.getSelection() : null;
    const formats = range === null ? {} : quill.getFormat(range);
    for (const [index, { format, value }] of TOOLS.entries())
      this.buttons[index]?.setAttribute('aria-pressed', String(formats[format] === value));
  }

  private step(event: KeyboardEvent): void {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const at = this.buttons.indexOf(event.target as HTMLButtonElement);
    if (by === undefined || at < 0) return;
    event.preventDefault();
    this.stop((at + by + this.buttons.length) % this.buttons.length)?.focus();
  }

  private stop(at: number): HTMLButtonElement | undefined {
    for (const [index, button] of this.buttons.entries()) button.tabIndex = index === at ? 0 : -1;
    return this.buttons[at];
  }
}

function toolButton({ name, sign, format, value, shortcut }: Tool, quill: Quill): HTMLButtonElement {
  const button = document.createElement('button');
  button.type = 'button';
  button.dataset['sign'] = sign;
  button.dataset['format'] = format;
  button.title = `${name} (${shortcut})`;
  button.setAttribute('aria-label', name);
  button.setAttribute('aria-keyshortcuts', shortcut);
  // Keeps the cursor in the text.
  button.addEventListener('mousedown', (event) => event.preventDefault());
  button.addEventListener('click', () => toggle(quill, format, value));
  return button;
}
