import {
  decodeServerMessage,
  encodeChangesetBody,
  PROTOCOL_VERSION,
  toRockpoolError,
  type ServerMessage,
} from '#shared/index.ts';
import { openDatabase, type OpenDatabase } from '#client/worker/database/open-database.ts';
import { toSyncDatabase } from '#client/worker/sync/sync-database.ts';
import { LiveDatabase } from '#sync-server/database/live-database.ts';
import type { Subscriber } from '#sync-server/fanout/subscription.ts';
import { openDatabaseFile } from '#sync-server/store/database-file.ts';
import { openStorage } from '#vfs-opfs/index.ts';
import type { Device } from '../device.ts';
import { APP_SCHEMAS, householdSchema } from '../household-schema.ts';
import type { Random } from '../random.ts';
import { DATABASE_ID } from '../server-disk.ts';
import type { World } from '../world.ts';

const ELSEWHERE = 'elsewhere';
const CANARY = 'canary-of-elsewhere';

/**
 * Opens a device's files for another server database, and for one that replaced its own under the same name, each with
 * a canary row. Neither may be mistaken for the device's own database restored from a backup: no row crosses in either
 * direction, and the device itself is unaffected.
 */
export async function openElsewhere(world: World, device: Device, random: Random, number: number): Promise<void> {
  if (device.leader === undefined) return;
  const mark = `${device.name}-${number}`;
  const storage = await openStorage({
    name: 'household',
    medium: device.storage.copy(null).medium(),
    role: 'writer',
  });
  storage.register(device.writers.module as never);
  const open = (databaseId: string): OpenDatabase =>
    openDatabase({
      runtime: device.writers,
      path: storage.path,
      vfsName: storage.vfsName,
      role: 'writer',
      schema: APP_SCHEMAS.newer,
      databaseId,
      randomBytes: (count) => random.bytes(count),
      nowMs: () => world.time.nowMs,
    });
  try {
    const code = codeOf(() => open(ELSEWHERE).close());
    if (code !== 'database-mismatch') world.fault(`${mark} was opened for another database: ${code ?? 'it opened'}`);
    const database = open(DATABASE_ID);
    try {
      await meetRecreated(world, database, random.chance(0.3), mark);
    } finally {
      database.close();
    }
  } finally {
    await Promise.all([storage.close(), world.time.advance(0)]);
  }
}

/** `isFromBefore` says that the files were written by a version without database identities. */
async function meetRecreated(world: World, database: OpenDatabase, isFromBefore: boolean, mark: string): Promise<void> {
  const { meta, connection } = database;
  if (meta.databaseIdentity === null) return; // The device has never connected, so its file is not bound to a database.
  if (isFromBefore) connection.run("DELETE FROM rockpool_meta WHERE key = 'database_identity'");
  const live = new LiveDatabase(openDatabaseFile(':memory:', householdSchema), {
    onFailure: (error) => world.fault(`${mark}: ${String(error)}`),
  });
  await live.write(canary(), 'elsewhere', world.time.nowMs);
  const sync = toSyncDatabase({ database, elapsedMs: () => 0, onApplied: () => undefined });
  const heard: ServerMessage[] = [];
  const subscriber: Subscriber = {
    site: Buffer.from(sync.siteId).toString('hex'),
    hasEnded: false,
    send: (bytes) => void heard.push(decodeServerMessage(bytes)),
    fail: () => undefined,
  };
  const before = JSON.stringify(connection.rows('SELECT id, name FROM account ORDER BY id'));
  const code = codeOf(() => {
    void live.join(
      subscriber,
      {
        type: 'hello',
        protocolVersion: PROTOCOL_VERSION,
        token: '',
        databaseId: DATABASE_ID,
        siteId: sync.siteId,
        schemaHash: sync.schemaHash,
        ...sync.position(),
        snapshot: 'refused',
      },
      { principal: { id: 'ann' }, canWrite: true, rows: 'everything', nowMs: world.time.nowMs },
    );
    for (const message of heard) {
      if (message.type === 'welcome') sync.greet(message);
      else if (message.type === 'delivery') sync.applyDeliveries([message]);
    }
    const batch = sync.nextPush(sync.position().lastAckedSequence, 1024 * 1024);
    if (batch !== null)
      live.push(
        subscriber,
        { type: 'push', ...batch },
        { principal: 'ann', receivedMs: world.time.nowMs },
        () => undefined,
      );
    live.settle();
  });
  if (code !== 'database-mismatch')
    world.fault(`${mark} took a re-created database for its own: ${code ?? 'it was welcomed'}`);
  if (JSON.stringify(connection.rows('SELECT id, name FROM account ORDER BY id')) !== before)
    world.fault(`${mark} has other rows after meeting another database`);
  const there = live.file.sql.all('SELECT id FROM account').flat();
  if (there.length !== 1 || there[0] !== CANARY)
    world.fault(`${mark} left rows in another database: ${there.length - 1}`);
  await live.close();
  world.tally.add('opened for another database');
}

function canary(): Uint8Array {
  const account = householdSchema.tables.find(({ name }) => name === 'account');
  if (account === undefined) throw new Error('the schema has no accounts');
  const columns = account.columns.filter(({ name }) => name !== 'id');
  return encodeChangesetBody({
    atomic: false,
    groups: [
      {
        tableId: account.id,
        kind: 'insert',
        rowCount: 1,
        keys: [[CANARY]],
        columnIds: columns.map(({ id }) => id),
        values: columns.map(({ name }) => [name === 'name' ? CANARY : null]),
      },
    ],
    cellBases: [],
  });
}

function codeOf(run: () => void): string | null {
  try {
    run();
    return null;
  } catch (thrown) {
    return toRockpoolError(thrown).code;
  }
}
