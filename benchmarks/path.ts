// `npm run bench -- path`: where the processor time of one row goes, from the statement on one device to the live query
// of another, by the folders of the code. The writer, the server and the reader share a thread and have no sockets
// between them, so that nothing but their own work is in the figures. `--profiles FOLDER` keeps the profiles.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createDevice, inProcess } from '../packages/client/src/node/index.ts';
import type { Client } from '../packages/client/src/client.ts';
import { createSyncServer } from '../packages/sync-server/src/index.ts';
import { profileSteps, type ProfiledWork } from './path/profile.ts';
import { floors } from './path/floors.ts';
import { pathTables, type PathColumn } from './path/print-path.ts';
import { ledgerRow } from './sync/rows.ts';
import { DATABASE_ID, schema, SECRET } from './sync/engines/rockpool-shared.ts';

const { values: flags } = parseArgs({
  options: { quick: { type: 'boolean', default: false }, profiles: { type: 'string' } },
});
const COLD_ROWS = 100;
const WARM_UP_ROWS = flags.quick ? 300 : 3_000;
const LONE_ROWS = flags.quick ? 300 : 2_000;
const BURST_ROWS = flags.quick ? 500 : 5_000;

const INSERT = 'INSERT INTO ledger (id, account, payee, amount_minor, day, notes) VALUES (?, ?, ?, ?, ?, ?)';

const dataDir = mkdtempSync(join(tmpdir(), 'rockpool-bench-path-'));
const server = createSyncServer({ dataDir, schema, secret: SECRET, log: () => undefined });
let nextRow = 0;
try {
  const [writer, reader] = [await open('ann'), await open('ben')];
  const seen = showNewest(reader);

  /** Writes one row at a time. Waits until the reader shows it before writing the next one. */
  const lone = async (count: number): Promise<void> => {
    for (let i = 0; i < count; i++) {
      const shown = seen.until(ledgerRow(nextRow).id);
      await insert(writer);
      await shown;
    }
  };
  /** Writes rows without a connection, each in its own transaction. They are sent together afterwards. */
  const burst = async (count: number): Promise<void> => {
    for (let i = 0; i < count; i++) await insert(writer);
  };

  const columns: PathColumn[] = [];
  const add = (name: string, rows: number, work: ProfiledWork): void => void columns.push({ name, rows, work });
  add('cold: first rows', COLD_ROWS, await profileSteps(() => lone(COLD_ROWS)));
  await lone(WARM_UP_ROWS);
  add('warm: one at a time', LONE_ROWS, await profileSteps(() => lone(LONE_ROWS)));
  await writer.sync.pause();
  add('offline: written', BURST_ROWS, await profileSteps(() => burst(BURST_ROWS)));
  add(
    'offline: synced',
    BURST_ROWS,
    await profileSteps(async () => {
      const shown = seen.until(ledgerRow(nextRow - 1).id);
      await writer.sync.resume();
      await shown;
    }),
  );
  if (flags.profiles !== undefined) {
    mkdirSync(flags.profiles, { recursive: true });
    for (const { name, work } of columns)
      writeFileSync(join(flags.profiles, `${name.replace(/\W+/g, '-')}.cpuprofile`), JSON.stringify(work.profile));
  }
  console.log(pathTables(columns, await floors(LONE_ROWS)));
  await writer.close();
  await reader.close();
} finally {
  await server.close();
  rmSync(dataDir, { recursive: true, force: true, maxRetries: 5 });
}

function open(principal: string): Promise<Client> {
  return createDevice().createClient({
    name: DATABASE_ID,
    schema,
    sync: {
      url: 'ws://in-process',
      databaseId: DATABASE_ID,
      transport: inProcess(server),
      token: () => server.issueToken({ principal, databases: [DATABASE_ID], ttlMs: 3_600_000 }),
      firstSync: {},
    },
  });
}

async function insert(client: Client): Promise<void> {
  const { id, account, payee, amountMinor, day, notes } = ledgerRow(nextRow++);
  await client.execute(INSERT, [id, account, payee, amountMinor, day, notes]);
}

/** The newest row in a live query, as an app's list shows it. */
function showNewest(client: Client): { until(id: string): Promise<void> } {
  let waiting: { readonly id: string; readonly done: () => void } | null = null;
  client
    .live<{ id: string }>('SELECT id, payee, amount_minor FROM ledger ORDER BY rowid DESC LIMIT 1')
    .subscribe(({ rows }) => {
      if (waiting === null || rows[0]?.id !== waiting.id) return;
      waiting.done();
      waiting = null;
    });
  return {
    until: (id) =>
      new Promise((resolve) => {
        waiting = { id, done: resolve };
      }),
  };
}
