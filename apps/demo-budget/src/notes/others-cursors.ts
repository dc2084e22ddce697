import type Quill from 'quill/core.js';
import Module from 'quill/core/module.js';

interface Place {
  readonly index: number;
  /** Length of the selection from its anchor to the cursor; negative to the left. */
  readonly length: number;
}

interface Cursor {
  readonly element: HTMLElement;
  place: Place | null;
}

/**
 * Shows the labelled cursors of other users in the text. y-quill looks this module up under the name `cursors`. The
 * cursors overlay the text and are not part of it.
 */
export class OthersCursors extends Module {
  private readonly cursors = new Map<string, Cursor>();
  private readonly layer = document.createElement('div');
  /** Lines break differently when the editor's width changes. */
  private readonly resizes = new ResizeObserver(() => this.drawAll());

  constructor(quill: Quill, options: object) {
    super(quill, options);
    this.layer.className = 'note-cursors';
    quill.container.append(this.layer);
    this.resizes.observe(quill.root);
  }

  createCursor(id: string, name: string, color: string): void {
    if (this.cursors.has(id)) return;
    const element = document.createElement('div');
    element.className = 'note-cursor';
    element.style.setProperty('--person', color);
    const flag = document.createElement('span');
    flag.textContent = name;
    element.append(flag);
    this.layer.append(element);
    this.cursors.set(id, { element, place: null });
  }

  moveCursor(id: string, place: Place): void {
    const cursor = this.cursors.get(id);
    if (cursor === undefined) return;
    cursor.place = place;
    this.draw(cursor);
  }

  removeCursor(id: string): void {
    this.cursors.get(id)?.element.remove();
    this.cursors.delete(id);
  }

  end(): void {
    this.resizes.disconnect();
  }

  private drawAll(): void {
    for (const cursor of this.cursors.values()) this.draw(cursor);
  }

  private draw({ element, place }: Cursor): void {
    const bounds = place === null ? null : this.quill.getBounds(Math.max(0, place.index + place.length));
    element.hidden = bounds === null;
    if (bounds === null) return;
    element.style.insetInlineStart = `${bounds.left}px`;
    element.style.insetBlockStart = `${bounds.top}px`;
    element.style.blockSize = `${bounds.height}px`;
  }
}
