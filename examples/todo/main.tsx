import { createClient } from '@rockpool/client';
import { RockpoolProvider } from '@rockpool/client/react';
import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';
import { schema } from './schema.ts';

const root = createRoot(document.getElementById('root')!);

async function open(): Promise<void> {
  root.render(<p>Opening…</p>);
  try {
    const client = await createClient({
      name: 'todos',
      schema,
      sync: {
        url: `${location.origin.replace('http', 'ws')}/sync`,
        databaseId: 'my-list',
        token: () => fetch('/token'),
      },
    });
    root.render(
      <RockpoolProvider client={client}>
        <App />
      </RockpoolProvider>,
    );
  } catch (error) {
    root.render(
      <>
        <p role="alert">{error instanceof Error ? error.message : String(error)}</p>
        <button onClick={() => void open()}>Try again</button>
      </>,
    );
  }
}

await open();
