import { RockpoolError, type Client, type LiveDocument, type RowKey } from '@rockpool/client';
import { useEffect, useState } from 'react';
import { useMaybeClient } from './client-context.ts';
import { onceStored } from './once-stored.ts';

/** The state of a document in a component. */
export interface DocumentState<Value> {
  /** The open document; null while it is opening and if opening failed. */
  readonly document: LiveDocument<Value> | null;
  /** The JSON of the document in this page; null if there is none. */
  readonly value: Value | null;
  /**
   * Why the document could not be opened (`document-gone`: the row does not exist yet; the document opens once it
   * does), or why a change could not be written.
   */
  readonly error: Error | null;
}

interface Known<Value> {
  readonly client: Client;
  readonly of: string;
  readonly state: DocumentState<Value>;
}

const OPENING: DocumentState<never> = Object.freeze({ document: null, value: null, error: null });

/**
 * Opens a document while the component is mounted, and renders again when the document changes, here or elsewhere. A
 * `change` shows in the same render, so `value` may control an input. A different `key` opens a different document; an
 * array literal is fine.
 *
 * ```tsx
 * const { document, value } = useDocument<{ body: string }>('page', [id], 'content');
 * return <textarea value={value?.body ?? ''} onChange={({ target }) => document?.change((page) => ({ ...page, body:
 * target.value }))} />;
 * ```
 */
export function useDocument<Value = unknown>(table: string, key: RowKey, column: string): DocumentState<Value> {
  const client = useMaybeClient();
  const [known, setKnown] = useState<Known<Value> | null>(null);
  const of = JSON.stringify([table, key, column], (_name, part: unknown) =>
    typeof part === 'bigint' ? `${part}n` : part,
  );
  useEffect(() => {
    if (client === null) return undefined;
    let isShown = true;
    const show = (state: DocumentState<Value>): void => {
      if (isShown) setKnown({ client, of, state });
    };
    let stopWaiting = (): void => undefined;
    const open = (): Promise<LiveDocument<Value>> => {
      const document = client.document<Value>(table, key, column);
      document.then(
        (opened) => {
          opened.subscribe(({ value, error }) => show({ document: opened, value, error }));
        },
        (error: Error) => {
          show({ ...OPENING, error });
          if (isShown && error instanceof RockpoolError && error.code === 'document-gone')
            stopWaiting = onceStored(client, { table, key, column }, () => void (opening = open()));
        },
      );
      return document;
    };
    let opening = open();
    return () => {
      isShown = false;
      stopWaiting();
      // The document is closing, and a change to it would be lost. The same key may be requested again before the next
      // document is open.
      setKnown(null);
      // The component has already shown an opening error. An error in writing the last change has no component left to
      // show it, so it becomes an unhandled rejection of the page.
      opening.then(
        (document) => document.close(),
        () => undefined,
      );
    };
    // `of` identifies table, key and column.
  }, [client, of]);
  return known?.client === client && known.of === of ? known.state : OPENING;
}
