import { useState, type ReactNode } from 'react';
import { useWhoIs } from '../people/who.ts';
import { errorSentence } from '../shell/error-sentence.ts';
import { useTask } from '../shell/failure.tsx';
import { formatMoment } from '../shell/locale.ts';
import type { Wording } from '../words/row-words.ts';
import { ChangeLines } from './change-lines.tsx';
import { momentLines, momentTitle } from './moment-words.ts';
import type { HistoryRow, Moment } from './moments.ts';
import type { Histories } from './use-histories.ts';

export interface MomentListProps {
  readonly histories: Histories;
  /** The row that the titles name. */
  readonly main: HistoryRow;
  /** The currency of the amounts. */
  readonly currency: string;
  readonly wording: Wording;
  /** Shown below the changes of a moment, such as a button that restores it. */
  readonly children?: (moment: Moment, index: number) => ReactNode;
}

/** Moments, newest first: who, when, and what changed. */
export function MomentList({ histories, main, currency, wording, children }: MomentListProps): ReactNode {
  const whoIs = useWhoIs();
  const run = useTask();
  const [loadingMore, setLoadingMore] = useState(false);
  const { moments, loading, unasked, isTruncated, more } = histories;
  if (loading) return <p className="hint">Loading the history …</p>;
  return (
    <>
      {unasked !== null && (
        <p className="hint" role="status">
          {errorSentence(unasked)} Only recent changes of this device are shown.
        </p>
      )}
      {moments.length === 0 && <p className="hint">No changes are known.</p>}
      <ol className="moments">
        {moments.map((moment, index) => (
          <li key={moment.id} className="moment">
            <p className="moment-head">
              <strong>{momentTitle(moment, main)}</strong>
              <span>{sentenceStart(whoIs(moment.author))}</span>
              <time dateTime={new Date(moment.writtenMs).toISOString()}>{formatMoment(moment.writtenMs)}</time>
              {moment.version === null && <span className="hint">Not synced yet</span>}
            </p>
            <ChangeLines lines={momentLines(moment, currency, wording)} />
            {children?.(moment, index)}
          </li>
        ))}
      </ol>
      {more !== null && (
        <button
          type="button"
          className="more"
          disabled={loadingMore}
          onClick={() => {
            setLoadingMore(true);
            run(() => more().finally(() => setLoadingMore(false)));
          }}
        >
          Show older changes
        </button>
      )}
      {isTruncated && <p className="hint">Changes before these are no longer kept.</p>}
    </>
  );
}

function sentenceStart(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1);
}
