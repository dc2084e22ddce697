import type { RichText } from '@rockpool/client';
import Delta, { AttributeMap } from 'quill-delta';

/** A segment of a note's text, and its change between two versions. */
export interface NotePiece {
  readonly kind: 'same' | 'added' | 'removed' | 'reformatted';
  readonly text: string;
  /** Such as `{ bold: true }`. */
  readonly formats: Readonly<Record<string, unknown>>;
}

/** A line of the newer version, with the removed text where it was. */
export interface NoteLine {
  readonly pieces: readonly NotePiece[];
  /** The formats of the whole line, such as `{ list: 'bullet' }`. */
  readonly formats: Readonly<Record<string, unknown>>;
}

/** The text of a note, with what changed since an older version. Without one, nothing is marked. */
export function noteLines(newer: RichText, older: RichText = newer): NoteLine[] {
  const [from, to] = [deltaOf(older), deltaOf(newer)];
  const pieces: NotePiece[] = [];
  let at = 0;
  for (const { retain, insert, delete: removed, attributes } of from.diff(to).ops) {
    if (typeof insert === 'string') pieces.push(...split('added', insert, attributes));
    const length = typeof retain === 'number' ? retain : (removed ?? 0);
    for (const kept of from.slice(at, at + length).ops) {
      if (typeof kept.insert !== 'string') continue;
      const kind = removed !== undefined ? 'removed' : attributes === undefined ? 'same' : 'reformatted';
      const formats = kind === 'reformatted' ? AttributeMap.compose(kept.attributes, attributes) : kept.attributes;
      pieces.push(...split(kind, kept.insert, formats));
    }
    at += length;
  }
  // Text after the part that the difference covers is unchanged.
  for (const { insert, attributes } of from.slice(at).ops)
    if (typeof insert === 'string') pieces.push(...split('same', insert, attributes));
  return linesOf(pieces);
}

function deltaOf(text: RichText): Delta {
  return new Delta(text as unknown as ConstructorParameters<typeof Delta>[0]);
}

/** Line ends become separate pieces, because they have the formats of their line. */
function split(kind: NotePiece['kind'], text: string, formats: AttributeMap = {}): NotePiece[] {
  return text
    .split(/(\n)/)
    .filter((part) => part !== '')
    .map((part) => ({ kind, text: part, formats }));
}

function linesOf(pieces: readonly NotePiece[]): NoteLine[] {
  const lines: NoteLine[] = [];
  let line: NotePiece[] = [];
  for (const piece of pieces) {
    if (piece.text !== '\n' || piece.kind === 'removed') {
      line.push(piece);
      continue;
    }
    lines.push({ pieces: line, formats: piece.formats });
    line = [];
  }
  // Text that was removed after the last line end.
  const last = lines.pop() ?? { pieces: [], formats: {} };
  return [...lines, { ...last, pieces: [...last.pieces, ...line] }];
}
