import { listDatabases } from '@rockpool/client';
import { useClient, useSyncStatus } from '@rockpool/client/react';
import { useCallback, useEffect, useRef, useState, type ReactNode } from 'react';
import { formatMoment, locale } from '../shell/locale.ts';
import { megabytes } from '../shell/megabytes.ts';
import { readCursor, sentChanges } from './changes.ts';
import { usePolled } from './use-polled.ts';

const timeFormat = new Intl.DateTimeFormat(locale, { timeStyle: 'medium' });

/** The outgoing changes, with their bytes and latencies, and the incoming ones. */
export function ChangesCard(): ReactNode {
  const client = useClient();
  const readSent = useCallback(() => sentChanges(client), [client]);
  const readHere = useCallback(() => readCursor(client), [client]);
  const sent = usePolled(readSent, 500) ?? [];
  const cursor = usePolled(readHere, 500);
  const arrivals = useArrivals(cursor);
  return (
    <section className="card form" aria-label="Changes">
      <h2>Changes out and in</h2>
      <p>
        Each transaction becomes one changeset in the changelog, in the same commit as the rows. It is sent when there
        is a network, and stays until the server’s outcome is stored here.
      </p>
      <div className="how-pair">
        <table className="figures">
          <caption>Out: this device’s changesets</caption>
          <thead>
            <tr>
              <th scope="col">Written</th>
              <th scope="col" className="number">
                Bytes
              </th>
              <th scope="col" className="number">
                Outcome after
              </th>
            </tr>
          </thead>
          <tbody>
            {sent.map(({ sequence, writtenMs, sizeBytes, latencyMs }) => (
              <tr key={sequence}>
                <td title={formatMoment(writtenMs)}>{timeFormat.format(writtenMs)}</td>
                <td className="number">{sizeBytes.toLocaleString(locale)}</td>
                <td className="number">{latencyMs === null ? 'waiting' : `${latencyMs.toLocaleString(locale)} ms`}</td>
              </tr>
            ))}
            {sent.length === 0 && (
              <tr>
                <td colSpan={3}>Nothing written here lately.</td>
              </tr>
            )}
          </tbody>
        </table>
        <table className="figures">
          <caption>In: the server’s log, read up to watermark {cursor?.toLocaleString(locale) ?? '…'}</caption>
          <thead>
            <tr>
              <th scope="col">Arrived</th>
              <th scope="col" className="number">
                Changesets
              </th>
            </tr>
          </thead>
          <tbody>
            {arrivals.map(({ atMs, count }) => (
              <tr key={atMs}>
                <td>{timeFormat.format(atMs)}</td>
                <td className="number">{count.toLocaleString(locale)}</td>
              </tr>
            ))}
            {arrivals.length === 0 && (
              <tr>
                <td colSpan={2}>Nothing since this page opened.</td>
              </tr>
            )}
          </tbody>
        </table>
      </div>
    </section>
  );
}

interface Arrival {
  readonly atMs: number;
  readonly count: number;
}

/** When the cursor moved, and by how much. The device’s own changesets are part of the log too. */
function useArrivals(cursor: number | null): readonly Arrival[] {
  const last = useRef<number | null>(null);
  const [arrivals, setArrivals] = useState<readonly Arrival[]>([]);
  useEffect(() => {
    const before = last.current;
    last.current = cursor;
    if (cursor === null || before === null || cursor <= before) return;
    setArrivals((known) => [{ atMs: Date.now(), count: cursor - before }, ...known].slice(0, 8));
  }, [cursor]);
  return arrivals;
}

const mediumWords = {
  opfs: 'OPFS, shared by all tabs: each tab reads the file itself',
  'opfs-exclusive': 'OPFS, opened by one tab: the others read through it',
  indexeddb: 'IndexedDB, opened by one tab: the others read through it',
  memory: 'memory, until this tab closes',
} as const;

/** Which tab leads, and where the data is stored. */
export function PlaceCard(): ReactNode {
  const client = useClient();
  const { role, persistence, state } = useSyncStatus();
  const readSize = useCallback(
    async () => (await listDatabases()).find(({ name }) => name === client.name)?.sizeBytes ?? 0,
    [client],
  );
  const sizeBytes = usePolled(readSize, 5_000);
  return (
    <section className="card form" aria-label="This tab">
      <h2>This tab</h2>
      <dl className="facts">
        <div>
          <dt>Leads</dt>
          <dd>
            {role === 'leader'
              ? 'Yes: its worker writes and syncs for all tabs of the budget'
              : role === 'follower'
                ? 'No: another tab’s worker writes and syncs; this tab sends it its writes'
                : 'Not yet: the budget is opening'}
          </dd>
        </div>
        <div>
          <dt>Database</dt>
          <dd>
            <code>{client.name}</code>, SQLite in {mediumWords[persistence]}
            {sizeBytes !== null && sizeBytes > 0 && `, ${megabytes(sizeBytes)}`}
          </dd>
        </div>
        <div>
          <dt>Sync</dt>
          <dd>{state}</dd>
        </div>
      </dl>
    </section>
  );
}
