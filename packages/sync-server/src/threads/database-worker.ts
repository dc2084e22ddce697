import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { parentPort, workerData, type MessagePort } from 'node:worker_threads';
import { decodeSchema } from '@rockpool/shared';
import { DatabaseHost } from '../database/database-host.ts';
import { errorFields, type Logger } from '../observe/log-line.ts';
import { DiskWatch } from '../store/disk-watch.ts';
import { KnownSchemas, rememberedSchemas } from '../store/known-schemas.ts';
import { postgresDatabases, sqliteDatabases, type DatabaseStores } from '../store/open-stores.ts';
import { tenantUnknown } from '../store/tenant-sizes.ts';
import { DatabaseOwner } from './database-owner.ts';
import { Outbox } from './outbox.ts';
import { ownerOf } from './owner-of.ts';
import { copiesFolder, snapshotFolder } from './thread-folders.ts';
import {
  STATE_INTERVAL_MS,
  type FromOwner,
  type LimitedTenants,
  type ThreadOptions,
  type ToOwner,
} from './thread-messages.ts';

// Runs on a thread of its own. An unexpected error ends the thread, and the accepting thread starts a new one
// (database-thread.ts).
const options = workerData as ThreadOptions;
const port = parentPort as MessagePort;
const outbox = new Outbox<FromOwner>((messages) => port.postMessage(messages));
const log: Logger = (event, fields) => outbox.add({ kind: 'log', event, fields });
const schema = decodeSchema(options.schema);
const stores = openStores();
const diskWatch = new DiskWatch(stores.store);
let tenants: LimitedTenants = { full: new Set(), unnamed: new Set() };
const host = new DatabaseHost({
  dataDir: options.dataDir,
  schemaHash: schema.hash,
  schemas: stores.schemas,
  rules: options.rules,
  store: stores.store,
  bus: stores.bus,
  roomOf: (databaseId) => ({
    tenantBytes: () => {
      if (tenants.unnamed.has(databaseId)) throw tenantUnknown();
      return tenants.full.has(databaseId) ? (options.rules.quotas?.maxTenantBytes ?? 0) : 0;
    },
    isDiskFull: () => diskWatch.isDiskFull,
    takeReserve: (bytes) => diskWatch.takeReserve(bytes),
  }),
  log,
  onFollowed: (followed) => outbox.add({ kind: 'followed', followed }),
  documentThreads: options.documentThreads,
  snapshotFolder: snapshotFolder(options.index),
  owns: (databaseId) => ownerOf(databaseId, options.count) === options.index,
});
const owner = new DatabaseOwner(host, outbox);
const stopReporting = reportState();
outbox.add({ kind: 'started' });

port.on('message', (messages: readonly ToOwner[]) => {
  for (const message of messages) {
    if (message.kind === 'limited-tenants') tenants = message;
    else if (message.kind === 'close') void close();
    else owner.receive(message);
  }
});

function openStores(): DatabaseStores {
  const { postgres, postgresConnections, nats, dataDir } = options;
  // The accepting thread logs the files that cannot be read.
  const remembered = rememberedSchemas(dataDir, () => undefined);
  const schemas = new KnownSchemas([...remembered, ...options.olderSchemas.map(decodeSchema)]);
  if (postgres === null) return sqliteDatabases(dataDir, schema, schemas);
  return postgresDatabases(postgres, {
    maxConnections: postgresConnections,
    dataDir,
    schema,
    schemas,
    nats,
    copiesFolder: copiesFolder(options.index),
    onError: (error) => log('store-error', errorFields(error)),
    measureCommit: (durationMs) => outbox.add({ kind: 'commit-duration', durationMs }),
  });
}

function reportState(): () => void {
  const loopDelay = monitorEventLoopDelay({ resolution: 20 });
  loopDelay.enable();
  let before = performance.eventLoopUtilization();
  const timer = setInterval(() => {
    const now = performance.eventLoopUtilization();
    const { openCount, damagedCount, backupState: backup } = host;
    const loopDelaySeconds = loopDelay.percentile(99) / 1e9;
    const { utilization } = performance.eventLoopUtilization(now, before);
    outbox.add({
      kind: 'state',
      state: { openCount, damagedCount, loopDelaySeconds, utilization, bus: stores.bus?.state ?? null, backup },
    });
    loopDelay.reset();
    before = now;
  }, STATE_INTERVAL_MS);
  timer.unref();
  return () => {
    clearInterval(timer);
    loopDelay.disable();
  };
}

async function close(): Promise<void> {
  try {
    await host.close();
  } finally {
    stopReporting();
    diskWatch.close();
    await stores.close();
    outbox.add({ kind: 'closed' });
    outbox.flush();
    port.close();
  }
}
