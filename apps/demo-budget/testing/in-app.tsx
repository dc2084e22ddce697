import { createClient, type Client } from '@rockpool/client';
import { RockpoolProvider } from '@rockpool/client/react';
import { StrictMode, type ReactNode } from 'react';
import { flushSync } from 'react-dom';
import { createRoot } from 'react-dom/client';
import { schema } from '../src/schema.ts';
import { FailureNotice } from '../src/shell/failure.tsx';

/** A part of the app on a page of its own, in a browser, with a new budget. */
export interface InApp {
  readonly client: Client;
  readonly container: HTMLElement;
  /** How many queries of the page have settled. */
  readonly queryCount: number;
  /** Draws the content of a page; each name is a different page of the app. */
  show(page: string, content: ReactNode): void;
  close(): Promise<void>;
}

/** Other clients can open the budget if it is `durable`, as other tabs do. */
export async function inApp(persistence: 'memory' | 'durable' = 'memory'): Promise<InApp> {
  const client = await createClient({ name: `in-app-${crypto.randomUUID()}`, schema, persistence });
  const container = document.createElement('div');
  document.body.append(container);
  const root = createRoot(container);
  let queryCount = 0;
  const counted = async <T,>(query: Promise<T>): Promise<T> => {
    try {
      return await query;
    } finally {
      queryCount += 1;
    }
  };
  const pageClient = { ...client, query: (...given: Parameters<Client['query']>) => counted(client.query(...given)) };
  return {
    client,
    container,
    get queryCount() {
      return queryCount;
    },
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
      await client.close();
    },
  };
}
