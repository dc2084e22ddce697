import { useEffect, useState } from 'react';
import type { LiveDocument, RowKey } from '../client.ts';
import { useMaybeClient } from './client-context.ts';

/** What a component knows of a document. */
export interface DocumentState<Value> {
  /** Null while it is being opened, and where that failed. */
  readonly document: LiveDocument<Value> | null;
  /** Its JSON as it is in this page; null where there is none. */
  readonly value: Value | null;
  /**
   * Why it could not be opened (`document-gone`: there is no such row), or what keeps a change of it from being
   * written.
   */
  readonly error: Error | null;
}

const OPENING: DocumentState<never> = Object.freeze({ document: null, value: null, error: null });

/**
 * A document that is open for as long as the component is there, which draws again when the document changes, here or
 * elsewhere. What `change` does shows in the same drawing, so the value of a field may be taken from it. Another `key`
 * opens another one; an array may be written in place.
 *
 * ```tsx
 * const { document, value } = useDocument<{ body: string }>('page', [id], 'content');
 * return <textarea value={value?.body ?? ''} onChange={({ target }) => document?.change((page) => ({ ...page, body:
 * target.value }))} />;
 * ```
 */
export function useDocument<Value = unknown>(table: string, key: RowKey, column: string): DocumentState<Value> {
  const client = useMaybeClient();
  const [known, setKnown] = useState<{ readonly of: string; readonly state: DocumentState<Value> } | null>(null);
  const of = JSON.stringify([table, key, column], (_name, part: unknown) =>
    typeof part === 'bigint' ? `${part}n` : part,
  );
  useEffect(() => {
    if (client === null) return undefined;
    let isShown = true;
    const show = (state: DocumentState<Value>): void => {
      if (isShown) setKnown({ of, state });
    };
    const opening = client.document<Value>(table, key, column);
    opening.then(
      (document) => {
        const draw = (): void => show({ document, value: document.value, error: document.error });
        document.onChange(draw);
        draw();
      },
      (error: Error) => show({ ...OPENING, error }),
    );
    return () => {
      isShown = false;
      // It is being closed: what somebody wrote into it now would be lost. The same key may be asked for again before
      // another document is there.
      setKnown(null);
      // What fails to open is shown above. What was changed last and cannot be written has nobody left to show it: an
      // unhandled rejection of the page.
      opening.then(
        (document) => document.close(),
        () => undefined,
      );
    };
    // `of` stands for table, key and column.
  }, [client, of]);
  return known?.of === of ? known.state : OPENING;
}
