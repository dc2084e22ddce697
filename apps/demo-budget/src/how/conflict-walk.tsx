import { RockpoolProvider, useClient, useLiveQuery, useSyncStatus } from '@rockpool/client/react';
import { useEffect, useRef, useState, type FormEvent, type ReactNode } from 'react';
import { useTask } from '../shell/failure.tsx';
import { ConflictList } from '../sync/conflict-list.tsx';
import { statusWords } from '../sync/status-sentence.ts';
import { openPanes, walkEntryId, type Pane, type Panes } from './open-panes.ts';

/** A walkthrough that makes a conflict between two devices, and restores the value that lost. */
export function ConflictWalk(): ReactNode {
  const run = useTask();
  const [panes, setPanes] = useState<Panes | null>(null);
  const [opening, setOpening] = useState(false);
  const leaving = useRef(new AbortController());
  useEffect(() => {
    const stop = new AbortController();
    leaving.current = stop;
    return () => stop.abort();
  }, []);
  const start = (): void => {
    const { signal } = leaving.current;
    setOpening(true);
    run(async () => {
      try {
        setPanes(await openPanes(signal));
      } catch (error) {
        // Leaving the page closes the devices while they open. That is no failure.
        if (!signal.aborted) throw error;
      } finally {
        setOpening(false);
      }
    });
  };
  return (
    <section className="card form how-walk" aria-label="Make a conflict">
      <h2>Make a conflict</h2>
      <p>
        Two devices in one window, each with its own database, and a new budget that both sync. Take the phone offline,
        change the memo on both, and bring the phone back.
      </p>
      {panes === null ? (
        <div className="buttons">
          <button type="button" className="primary" onClick={start} disabled={opening}>
            {opening ? 'Opening two devices …' : 'Open two devices'}
          </button>
        </div>
      ) : (
        <>
          <div className="how-pair">
            <DevicePane pane={panes.laptop} />
            <DevicePane pane={panes.phone} />
          </div>
          <RockpoolProvider client={panes.laptop.client}>
            <ConflictList budget={panes.budget} device={panes.laptop.principal} />
          </RockpoolProvider>
        </>
      )}
    </section>
  );
}

function DevicePane({ pane }: { readonly pane: Pane }): ReactNode {
  return (
    <RockpoolProvider client={pane.client}>
      <DeviceForm title={pane.title} />
    </RockpoolProvider>
  );
}

function DeviceForm({ title }: { readonly title: string }): ReactNode {
  const client = useClient();
  const run = useTask();
  const status = useSyncStatus();
  const { rows } = useLiveQuery<{ readonly notes: string }>('SELECT notes FROM entries WHERE id = ?', [walkEntryId]);
  const notes = rows[0]?.notes;
  const [typed, setTyped] = useState('');
  const isOffline = status.state === 'paused';
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (typed.trim() === '') return;
    run(async () => {
      await client.execute('UPDATE entries SET notes = ? WHERE id = ?', [typed.trim(), walkEntryId]);
      setTyped('');
    });
  };
  return (
    <form className="card form how-device" onSubmit={submit} aria-label={title}>
      <div className="how-device-head">
        <strong>{title}</strong>
        <span className={`badge badge-${statusWords(status).tone}`}>
          <span className="dot" aria-hidden="true" />
          {statusWords(status).label}
        </span>
      </div>
      <p>
        Baker, memo: <b>{notes ?? '…'}</b>
      </p>
      <label>
        New memo on the {title.toLowerCase()}
        <input value={typed} autoComplete="off" onChange={(event) => setTyped(event.target.value)} />
      </label>
      <div className="buttons">
        <button type="submit">Save</button>
        <button
          type="button"
          className="quiet"
          onClick={() => run(() => (isOffline ? client.sync.resume() : client.sync.pause()))}
        >
          {isOffline ? 'Go online' : 'Go offline'}
        </button>
      </div>
    </form>
  );
}
