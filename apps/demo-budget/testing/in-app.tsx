import { createClient, type Client } from '@rockpool/client';
import { RockpoolProvider } from '@rockpool/client/react';
import { StrictMode, type ReactNode } from 'react';
import { flushSync } from 'react-dom';
import { createRoot } from 'react-dom/client';
import { schema } from '../src/schema.ts';
import { FailureNotice } from '../src/shell/failure.tsx';
import { countWrites } from '../src/shell/own-writes.ts';
import { TOAST_MS } from '../src/shell/toast-time.ts';

/** A part of the app on a page of its own, in a browser, with a new budget. */
export interface InApp {
  readonly client: Client;
  readonly container: HTMLElement;
  /** How many queries of the page have settled. */
  readonly queryCount: number;
  /** Queries of the page begin once this has resolved. */
  mayQuery: Promise<void>;
  /** Resolves when the page calls `client.undo` or `client.redo` the next time. */
  onNext(way: 'undo' | 'redo'): Promise<void>;
  /** Draws the content of a page; each name is a different page of the app. */
  show(page: string, content: ReactNode): void;
  close(): Promise<void>;
}

/**
 * Other clients can open the budget if it is `durable`, as other tabs do. Toasts stay open, because a test on a busy
 * machine may need longer than a user to find one.
 */
export async function inApp(persistence: 'memory' | 'durable' = 'memory'): Promise<InApp> {
  const client = countWrites(await createClient({ name: `in-app-${crypto.randomUUID()}`, schema, persistence }));
  const container = document.createElement('div');
  document.body.append(container);
  const root = createRoot(container);
  const letToastsClose = keepToasts();
  let queryCount = 0;
  const query = async (...given: Parameters<Client['query']>): Promise<object[]> => {
    try {
      await app.mayQuery;
      return await client.query(...given);
    } finally {
      queryCount += 1;
    }
  };
  const called = { undo: (): void => undefined, redo: (): void => undefined };
  const step = (way: 'undo' | 'redo') => async (): Promise<boolean> => {
    const done = client[way]();
    called[way]();
    return await done;
  };
  const pageClient = { ...client, query, undo: step('undo'), redo: step('redo') };
  const app: InApp = {
    client,
    container,
    get queryCount() {
      return queryCount;
    },
    mayQuery: Promise.resolve(),
    onNext: (way) =>
      new Promise((resolve) => {
        called[way] = resolve;
      }),
    show: (page, content) =>
      flushSync(() =>
        root.render(
          <StrictMode>
            <RockpoolProvider client={pageClient as Client}>
              <FailureNotice page={page}>{content}</FailureNotice>
            </RockpoolProvider>
          </StrictMode>,
        ),
      ),
    close: async () => {
      root.unmount();
      container.remove();
      letToastsClose();
      await client.close();
    },
  };
  return app;
}

function keepToasts(): () => void {
  const { setTimeout } = globalThis;
  globalThis.setTimeout = ((run: () => void, ms?: number, ...given: unknown[]) =>
    ms === TOAST_MS ? 0 : setTimeout(run, ms, ...given)) as typeof globalThis.setTimeout;
  return () => {
    globalThis.setTimeout = setTimeout;
  };
}
