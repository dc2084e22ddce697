import type { WaitingChangeset } from '@rockpool/client';
import type { ReactNode } from 'react';
import { ChangeLines } from '../history/change-lines.tsx';
import '../history/history.css';
import { formatMoment, locale } from '../shell/locale.ts';
import { differencesOf, type KnownRows } from '../words/row-differences.ts';
import { changedRows } from './rejected-words.ts';

/** An import may change thousands of rows. */
const SHOWN_AT_MOST = 10;

interface ChangesetSummaryProps {
  readonly changeset: Pick<WaitingChangeset, 'writtenMs' | 'changes'>;
  readonly known: KnownRows;
}

/** When a transaction was written, and what it changes. */
export function ChangesetSummary({ changeset, known }: ChangesetSummaryProps): ReactNode {
  const differences = differencesOf(changedRows(changeset), known);
  return (
    <>
      <p className="hint">{formatMoment(changeset.writtenMs)}</p>
      {differences.slice(0, SHOWN_AT_MOST).map(({ id, title, lines }) => (
        <div key={id}>
          <strong>{title}</strong>
          <ChangeLines lines={lines} />
        </div>
      ))}
      {differences.length > SHOWN_AT_MOST && (
        <p className="hint">And {(differences.length - SHOWN_AT_MOST).toLocaleString(locale)} more.</p>
      )}
    </>
  );
}
