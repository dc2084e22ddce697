import type { DocumentPath } from '@rockpool/shared/document';
import type { Text, YTextEvent } from 'yjs';
import type { LiveDocument } from '../interface/live-document.ts';

/** One step of a change of a Y.Text; `insert` is an object for an embedded value, which has the length 1. */
type DeltaStep = YTextEvent['delta'][number];

/**
 * Binds a textarea to a text of an open document, until the returned function is called. Each input changes only the
 * part of the text that differs. A change made elsewhere appears at once and keeps the caret and the selection at the
 * same characters, so that several users can type in one text at the same time. A change that arrives during a
 * composition (of an input method) appears when the composition ends. While the document has no text at the path, or is
 * gone, the textarea is empty and read-only.
 *
 * ```ts
 * const unbind = bindTextarea(textarea, document, 'note');
 * ```
 */
export function bindTextarea(
  textarea: HTMLTextAreaElement,
  document: Pick<LiveDocument, 'text' | 'subscribe'>,
  ...path: DocumentPath
): () => void {
  const binding = new TextareaBinding(textarea);
  // The object that holds the text may be replaced.
  const unfollow = document.subscribe(({ state }) => binding.follow(state === 'gone' ? null : document.text(...path)));
  return () => {
    unfollow();
    binding.end();
  };
}

/**
 *   textarea ── difference from `shown` ──► Y.Text
 *   textarea ◄── `missed` changes, applied to value and selection ── Y.Text
 *
 * A textarea shows each line break as \n; the Y.Text may have \r\n. `raw` marks positions in the Y.Text.
 */
class TextareaBinding {
  private readonly textarea: HTMLTextAreaElement;
  private readonly wasReadOnly: boolean;
  private text: Text | null = null;
  /** The text that the textarea shows, without input that is not written yet. */
  private shown = '';
  /** The changes of the Y.Text since `shown`. */
  private missed: DeltaStep[][] = [];
  private isComposing = false;
  private isWriting = false;

  constructor(textarea: HTMLTextAreaElement) {
    this.textarea = textarea;
    this.wasReadOnly = textarea.readOnly;
    textarea.addEventListener('input', this.onInput);
    textarea.addEventListener('compositionstart', this.onCompositionStart);
    textarea.addEventListener('compositionend', this.onCompositionEnd);
    this.show('', [0, 0]);
  }

  follow(text: Text | null): void {
    if (text === this.text) return;
    this.text?.unobserve(this.onChange);
    this.text = text;
    text?.observe(this.onChange);
    this.textarea.readOnly = this.wasReadOnly || text === null;
    const next = text?.toJSON() ?? '';
    // The changes between the two texts are unknown, so their difference determines the new position of the caret.
    const { at, removed, inserted } = difference(this.shown, next, next.length);
    this.missed = [[{ retain: at }, { delete: removed }, { insert: inserted }]];
    if (!this.isComposing) this.showMissed();
  }

  end(): void {
    this.take();
    this.follow(null);
    this.textarea.readOnly = this.wasReadOnly;
    this.textarea.removeEventListener('input', this.onInput);
    this.textarea.removeEventListener('compositionstart', this.onCompositionStart);
    this.textarea.removeEventListener('compositionend', this.onCompositionEnd);
  }

  private readonly onInput = (): void => {
    if (!this.isComposing) this.take();
  };

  private readonly onCompositionStart = (): void => void (this.isComposing = true);

  private readonly onCompositionEnd = (): void => {
    this.isComposing = false;
    this.take();
    this.showMissed();
  };

  private readonly onChange = ({ delta }: YTextEvent): void => {
    if (this.isWriting) return;
    this.missed.push(delta);
    if (!this.isComposing) this.showMissed();
  };

  /** Writes what the user has entered since `shown`. */
  private take(): void {
    const { textarea, text, shown, missed } = this;
    const [before, value] = [lineBreaksShown(shown), textarea.value];
    if (before === value || text === null) return;
    const { at, removed, inserted } = difference(before, value, textarea.selectionEnd);
    const [from, to] = [at, at + removed].map((place) => placeAfter(missed, rawPlace(shown, place))) as [
      number,
      number,
    ];
    this.isWriting = true;
    const write = (): void => {
      if (to > from) text.delete(from, to - from);
      if (inserted !== '') text.insert(from, inserted);
    };
    try {
      if (text.doc === null) write();
      else text.doc.transact(write);
    } finally {
      this.isWriting = false;
    }
    // Another text has replaced this one meanwhile, and is shown already.
    if (this.text !== text) return;
    const next = text.toJSON();
    if (missed.length > 0) this.show(next, [from + inserted.length, from + inserted.length]);
    this.shown = next;
    this.missed = [];
  }

  private showMissed(): void {
    const { textarea, text, shown, missed } = this;
    if (missed.length === 0) return;
    this.missed = [];
    const places = [textarea.selectionStart, textarea.selectionEnd].map((place) =>
      placeAfter(missed, rawPlace(shown, place)),
    );
    this.show(text?.toJSON() ?? '', places as [number, number]);
  }

  /** `start` and `end` of the selection are positions in the Y.Text. */
  private show(next: string, [start, end]: readonly [number, number]): void {
    const { textarea } = this;
    const { scrollTop, selectionDirection } = textarea;
    this.shown = next;
    const value = lineBreaksShown(next);
    if (textarea.value === value) return;
    textarea.value = value;
    // Without focus there is no caret to restore, and WebKit would move the focus here.
    if (!textarea.matches(':focus')) return;
    textarea.setSelectionRange(shownPlace(next, start), shownPlace(next, end), selectionDirection);
    textarea.scrollTop = scrollTop;
  }
}

interface Difference {
  readonly at: number;
  readonly removed: number;
  readonly inserted: string;
}

/**
 * Returns the one replacement that turns `before` into `after`. It leaves the text after the caret unchanged if
 * possible: if several equal characters could have been typed, it picks the one at the caret. It does not split a
 * surrogate pair.
 */
function difference(before: string, after: string, caret: number): Difference {
  const shortest = Math.min(before.length, after.length);
  const mostBehind = Math.min(shortest, after.length - caret);
  let behind = 0;
  while (behind < mostBehind && before.at(-1 - behind) === after.at(-1 - behind)) behind++;
  let at = 0;
  while (at < shortest - behind && before[at] === after[at]) at++;
  // After a deletion before the caret, the characters on both sides of the caret may be equal.
  while (behind < shortest - at && before.at(-1 - behind) === after.at(-1 - behind)) behind++;
  if (isBetweenHalves(before, at) || isBetweenHalves(after, at)) at--;
  if (isBetweenHalves(before, before.length - behind) || isBetweenHalves(after, after.length - behind)) behind--;
  return { at, removed: before.length - behind - at, inserted: after.slice(at, after.length - behind) };
}

function isBetweenHalves(text: string, place: number): boolean {
  return place > 0 && place < text.length && (text.codePointAt(place - 1) ?? 0) > 0xffff;
}

/** Returns where a position is after changes. Text that was inserted exactly at the position follows it. */
function placeAfter(changes: readonly (readonly DeltaStep[])[], place: number): number {
  return changes.reduce((at, delta) => {
    let [before, moved] = [0, at];
    for (const { retain, insert, delete: removed } of delta) {
      if (retain !== undefined) before += retain;
      else if (insert !== undefined) moved += before < at ? (typeof insert === 'string' ? insert.length : 1) : 0;
      else if (removed !== undefined) {
        moved -= Math.min(Math.max(at - before, 0), removed);
        before += removed;
      }
    }
    return moved;
  }, place);
}

const lineBreaksShown = (raw: string): string => raw.replace(/\r\n?/g, '\n');

const shownPlace = (raw: string, place: number): number => lineBreaksShown(raw.slice(0, place)).length;

/** Converts a position in the textarea to the position in a text with \r\n. */
function rawPlace(raw: string, place: number): number {
  if (!raw.includes('\r')) return place;
  let at = 0;
  for (let shown = 0; shown < place && at < raw.length; shown++) at += raw.startsWith('\r\n', at) ? 2 : 1;
  return at;
}
