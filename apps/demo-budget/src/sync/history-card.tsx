import { useClient } from '@rockpool/client/react';
import { useSyncExternalStore, type ReactNode } from 'react';
import { locale } from '../shell/locale.ts';
import { statusHistory } from './status-history.ts';
import { statusWords } from './status-sentence.ts';

const timeFormat = new Intl.DateTimeFormat(locale, { timeStyle: 'medium' });

/** The sync states since the page opened, with their times. */
export function HistoryCard(): ReactNode {
  const history = statusHistory(useClient());
  const entries = useSyncExternalStore(history.subscribe, () => history.current);
  return (
    <section className="card">
      <h2 id="sync-history">Since this page opened</h2>
      {/* The list scrolls once it is long, so the keyboard must reach it. */}
      <ol className="sync-history" aria-labelledby="sync-history" tabIndex={0}>
        {entries.map(({ atMs, status }) => (
          <li key={`${atMs} ${status.state}`}>
            <time dateTime={new Date(atMs).toISOString()}>{timeFormat.format(atMs)}</time>
            <span>{statusWords(status).label}</span>
            {status.reason !== null && <code>{status.reason.code}</code>}
          </li>
        ))}
      </ol>
    </section>
  );
}
