import { createClient } from '@rockpool/client';
import { RockpoolProvider } from '@rockpool/client/react';
import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';
import { schema } from './schema.ts';

const client = await createClient({
  name: 'todos',
  schema,
  sync: {
    url: `${location.origin.replace('http', 'ws')}/sync`,
    databaseId: 'my-list',
    token: () => fetch('/token'),
  },
});

createRoot(document.getElementById('root')!).render(
  <RockpoolProvider client={client}>
    <App />
  </RockpoolProvider>,
);
