import type { ReactNode } from 'react';
import type { NoteLine, NotePiece } from './note-lines.ts';

/** A version of a note, read-only, with what changed. */
export function NoteText({ lines, label }: { readonly lines: readonly NoteLine[]; readonly label: string }): ReactNode {
  return (
    <div className="note-version" role="document" aria-label={label} tabIndex={0}>
      {lines.map(({ pieces, formats }, index) => (
        <p key={index} className={formats['header'] === undefined ? undefined : 'note-heading'}>
          {formats['list'] !== undefined && <span className="note-bullet">• </span>}
          {pieces.length === 0 ? <br /> : pieces.map((piece, at) => <Piece key={at} {...piece} />)}
        </p>
      ))}
    </div>
  );
}

const words = { added: 'added: ', removed: 'removed: ', reformatted: 'formatted: ' } as const;

function Piece({ kind, text, formats }: NotePiece): ReactNode {
  const classes = ['bold', 'italic', 'strike']
    .filter((format) => formats[format] === true)
    .map((name) => `note-${name}`);
  const styled = classes.length === 0 ? text : <span className={classes.join(' ')}>{text}</span>;
  if (kind === 'same') return styled;
  const Mark = kind === 'added' ? 'ins' : kind === 'removed' ? 'del' : 'mark';
  return (
    <Mark>
      <span className="visually-hidden">{words[kind]}</span>
      {styled}
    </Mark>
  );
}
