import { bindTextarea, newId } from '@rockpool/client';
import { drizzle, liveQuery } from '@rockpool/client/drizzle';
import { useClient, useDocument, useLiveQuery, useSyncStatus } from '@rockpool/client/react';
import { asc, eq } from 'drizzle-orm';
import { useEffect, useMemo, useRef, useState, type ReactElement } from 'react';
import { todo, type Details } from './schema.ts';

export function App(): ReactElement {
  const client = useClient();
  const db = useMemo(() => drizzle(client), [client]);
  const { rows, error } = useLiveQuery((mine) => liveQuery(mine, db.select().from(todo).orderBy(asc(todo.id))), [db]);
  const [openId, setOpenId] = useState<string | null>(null);

  // Drizzle runs a statement when it is awaited, or by `run()`: without either, nothing is written.
  const add = (title: string): void => void db.insert(todo).values({ id: newId(), title }).run();
  const setDone = (id: string, done: boolean): void => void db.update(todo).set({ done }).where(eq(todo.id, id)).run();

  if (error !== null) return <p role="alert">{error.message}</p>;
  return (
    <main>
      <h1>Todos</h1>
      <SyncState />
      <NewTodo onAdd={add} />
      <ul>
        {rows.map(({ id, title, done }) => (
          <li key={id}>
            <label>
              <input type="checkbox" checked={done} onChange={() => setDone(id, !done)} /> {title}
            </label>{' '}
            <button onClick={() => setOpenId(id)}>Note</button>
          </li>
        ))}
      </ul>
      {openId !== null && <Note id={openId} />}
    </main>
  );
}

function NewTodo({ onAdd }: { readonly onAdd: (title: string) => void }): ReactElement {
  const [title, setTitle] = useState('');
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        onAdd(title);
        setTitle('');
      }}
    >
      <input aria-label="New todo" required value={title} onChange={({ target }) => setTitle(target.value)} />
    </form>
  );
}

function Note({ id }: { readonly id: string }): ReactElement {
  const { document, error } = useDocument<Details>('todo', [id], 'details');
  const area = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    if (document === null || area.current === null) return undefined;
    return bindTextarea(area.current, document, 'note');
  }, [document]);
  if (error !== null) return <p role="alert">{error.message}</p>;
  return <textarea aria-label="Note" ref={area} disabled={document === null} />;
}

function SyncState(): ReactElement {
  const { state, pendingCount, reason } = useSyncStatus();
  return (
    <p role="status">
      {state}, {pendingCount} to send{reason !== null && `: ${reason.message}`}
    </p>
  );
}
