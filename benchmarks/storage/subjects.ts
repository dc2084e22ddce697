import type { Adapter, Settings } from './adapters/adapter.ts';

/**
 * Workloads that a subject cannot run, or not in reasonable time, by id, each with the reason that the report prints.
 */
export type Lacks = Readonly<Record<string, string>>;

/** One row of the table: an adapter with settings. */
export interface Subject {
  /** The name of the peer, or of Rockpool, whose `variant` says what differs from the default. */
  readonly name: string;
  readonly variant: string;
  readonly adapter: AdapterName;
  readonly settings: Settings;
  /** Where the database is stored. Subjects are compared only with others on the same medium. */
  readonly medium: 'files' | 'indexeddb' | 'native';
  /** Whether a second tab may open the database at the same time. */
  readonly manyTabs: boolean;
  readonly hasLiveQueries?: boolean;
  /** The only workloads that it runs; all when left out. */
  readonly only?: readonly string[];
  readonly lacks?: Lacks;
}

export type AdapterName =
  | 'absurd-sql'
  | 'node-sqlite'
  | 'pglite'
  | 'powersync'
  | 'raw-indexeddb'
  | 'rockpool'
  | 'rockpool-client'
  | 'sqlite-wasm'
  | 'wa-sqlite';

export const ADAPTERS: Readonly<Record<Exclude<AdapterName, 'node-sqlite'>, () => Promise<Adapter>>> = {
  'absurd-sql': () => import('./adapters/absurd-sql.ts'),
  pglite: () => import('./adapters/pglite.ts'),
  powersync: () => import('./adapters/powersync.ts'),
  'raw-indexeddb': () => import('./adapters/raw-indexeddb.ts'),
  rockpool: () => import('./adapters/rockpool.ts'),
  'rockpool-client': () => import('./adapters/rockpool-client.ts'),
  'sqlite-wasm': () => import('./adapters/sqlite-wasm.ts'),
  'wa-sqlite': () => import('./adapters/wa-sqlite.ts'),
};

/** Adapters with their API on the page, and a worker of their own or none. */
export const ON_PAGE: ReadonlySet<AdapterName> = new Set<AdapterName>([
  'powersync',
  'raw-indexeddb',
  'rockpool-client',
]);

/** SQLite's own write-ahead log, for one connection in one tab: the fastest mode of the handle pools. */
const EXCLUSIVE_WAL = 'PRAGMA locking_mode = exclusive; PRAGMA journal_mode = wal; PRAGMA synchronous = normal';
/**
 * The slowest subjects skip workloads with a million rows and no target, because a run would otherwise take half as
 * long again.
 */
const HALF_A_MINUTE = 'takes half a minute and more';
/**
 * The defaults of sqlite.org's build. The others have 4 KB pages and a 2 MB cache, which matters more than their VFS.
 */
const PAGE_8K_CACHE_16M = 'PRAGMA page_size = 8192; PRAGMA cache_size = -16384';

export const FILE_SUBJECTS: readonly Subject[] = [
  { name: 'rockpool', variant: '', adapter: 'rockpool', settings: { medium: 'opfs' }, medium: 'files', manyTabs: true },
  {
    name: 'rockpool',
    variant: 'strict',
    adapter: 'rockpool',
    settings: { medium: 'opfs', durability: 'strict' },
    medium: 'files',
    manyTabs: true,
    only: ['L2', 'L2m'],
  },
  ...[4, 16, 32].map(withPages),
  { name: 'sahpool', variant: '', adapter: 'sqlite-wasm', settings: {}, medium: 'files', manyTabs: false },
  {
    name: 'sahpool-wal',
    variant: '',
    adapter: 'sqlite-wasm',
    settings: { pragmas: EXCLUSIVE_WAL },
    medium: 'files',
    manyTabs: false,
  },
  {
    name: 'AccessHandlePool-wal',
    variant: '',
    adapter: 'wa-sqlite',
    settings: { vfs: 'AccessHandlePoolVFS', pragmas: EXCLUSIVE_WAL },
    medium: 'files',
    manyTabs: false,
    lacks: lacksMillion(HALF_A_MINUTE),
  },
  {
    name: 'AccessHandlePool +8K16',
    variant: '',
    adapter: 'wa-sqlite',
    settings: { vfs: 'AccessHandlePoolVFS', pragmas: PAGE_8K_CACHE_16M },
    medium: 'files',
    manyTabs: false,
  },
  {
    name: 'WriteAhead +8K16',
    variant: '',
    adapter: 'wa-sqlite',
    settings: { vfs: 'OPFSWriteAheadVFS', pragmas: PAGE_8K_CACHE_16M },
    medium: 'files',
    manyTabs: true,
    lacks: lacksMillion(HALF_A_MINUTE),
  },
  {
    name: 'WriteAhead +8K16',
    variant: 'flushed',
    adapter: 'wa-sqlite',
    settings: { vfs: 'OPFSWriteAheadVFS', pragmas: `${PAGE_8K_CACHE_16M}; PRAGMA synchronous = full` },
    medium: 'files',
    manyTabs: true,
    only: ['L2', 'L2m'],
  },
  {
    name: 'raw IndexedDB',
    variant: '',
    adapter: 'raw-indexeddb',
    settings: {},
    medium: 'indexeddb',
    manyTabs: true,
    lacks: {
      L9fts: 'IndexedDB has no full-text index',
      L11b: 'IndexedDB stores objects in one form',
      L3b: 'stands among LI',
    },
  },
  {
    name: 'absurd-sql',
    variant: '',
    adapter: 'absurd-sql',
    settings: { pageSizeBytes: 8192 },
    medium: 'indexeddb',
    manyTabs: true,
    lacks: {
      L9fts: 'its SQLite 3.35 is built without FTS5',
      L11b: 'its SQLite 3.35 has no JSONB',
      L3b: 'more than a minute',
    },
  },
  {
    name: 'PowerSync',
    variant: 'OPFSCoopSyncVFS',
    adapter: 'powersync',
    settings: { vfs: 'OPFSCoopSyncVFS' },
    medium: 'files',
    manyTabs: true,
    hasLiveQueries: true,
    lacks: lacksMillion(HALF_A_MINUTE),
  },
  {
    name: 'PGlite',
    variant: 'opfs-ahp',
    adapter: 'pglite',
    settings: {},
    medium: 'files',
    manyTabs: false,
    lacks: { L9fts: 'PostgreSQL has no FTS5', L3b: 'more than a minute' },
  },
  { name: 'native', variant: '', adapter: 'node-sqlite', settings: {}, medium: 'native', manyTabs: false },
  {
    name: 'native',
    variant: 'WAL',
    adapter: 'node-sqlite',
    settings: { pragmas: 'PRAGMA journal_mode = wal; PRAGMA synchronous = normal' },
    medium: 'native',
    manyTabs: false,
  },
];

/** IDBBatchAtomicVFS cannot write a transaction that exceeds the cache as one atomic batch, which costs 40 s. */
const CACHE_64M = 'PRAGMA cache_size = -65536';

/** Our default configuration comes first; our variants each differ from it in one setting. */
export const INDEXEDDB_SUBJECTS: readonly Subject[] = [
  ours('', {}),
  ours('strict', { durability: 'strict' }),
  ours('lazy', { isLazy: true }),
  ...[8, 16, 256].map((kilobytes) => ours(`${kilobytes} KB extents`, { extentBytes: kilobytes * 1024 })),
  { name: 'raw IndexedDB', variant: '', adapter: 'raw-indexeddb', settings: {}, medium: 'indexeddb', manyTabs: true },
  {
    name: 'raw IndexedDB',
    variant: 'strict',
    adapter: 'raw-indexeddb',
    settings: { durability: 'strict' },
    medium: 'indexeddb',
    manyTabs: true,
    lacks: lacksMillion('as without strict'),
  },
  {
    name: 'absurd-sql',
    variant: '',
    adapter: 'absurd-sql',
    settings: { pageSizeBytes: 8192 },
    medium: 'indexeddb',
    manyTabs: true,
  },
  {
    name: 'IDBBatchAtomicVFS',
    variant: '',
    adapter: 'wa-sqlite',
    settings: { vfs: 'IDBBatchAtomicVFS', pragmas: CACHE_64M },
    medium: 'indexeddb',
    manyTabs: true,
    lacks: lacksMillion('its cache cannot hold the transaction'),
  },
  {
    name: 'IDBBatchAtomicVFS',
    variant: 'relaxed',
    adapter: 'wa-sqlite',
    settings: { vfs: 'IDBBatchAtomicVFS', pragmas: `${CACHE_64M}; PRAGMA synchronous = normal` },
    medium: 'indexeddb',
    manyTabs: true,
    lacks: lacksMillion('its cache cannot hold the transaction'),
  },
  {
    name: 'IDBMirrorVFS',
    variant: '',
    adapter: 'wa-sqlite',
    settings: { vfs: 'IDBMirrorVFS', pragmas: PAGE_8K_CACHE_16M },
    medium: 'indexeddb',
    manyTabs: true,
  },
];

/** Ours with other page sizes: the measurement behind the choice of 8 KB (docs/decisions/0035). */
function withPages(kilobytes: number): Subject {
  return {
    name: 'rockpool',
    variant: `${kilobytes} KB pages`,
    adapter: 'rockpool',
    settings: { medium: 'opfs', pageSizeBytes: kilobytes * 1024 },
    medium: 'files',
    manyTabs: true,
    only: ['L1', 'L2', 'L3', 'L4c', 'L4w', 'L5', 'L7', 'L11'],
  };
}

function lacksMillion(reason: string): Lacks {
  return { L3b: reason, L3bSelect1: reason, L3bSelect2: reason };
}

function ours(variant: string, settings: Settings): Subject {
  return {
    name: 'rockpool',
    variant,
    adapter: 'rockpool',
    settings: { medium: 'indexeddb', ...settings },
    medium: 'indexeddb',
    manyTabs: false,
  };
}

const RAW_INDEXEDDB: Subject = {
  name: 'raw IndexedDB',
  variant: '',
  adapter: 'raw-indexeddb',
  settings: {},
  medium: 'indexeddb',
  manyTabs: true,
};
/** Several tabs need the SDK, whose leader works for the others. */
const OURS_IN_TABS: Subject = {
  name: 'rockpool',
  variant: '',
  adapter: 'rockpool-client',
  settings: {},
  medium: 'files',
  manyTabs: true,
  only: ['reads', 'write'],
};

export const FIREFOX_SUBJECTS: readonly Subject[] = [
  {
    name: 'rockpool',
    variant: '',
    adapter: 'rockpool',
    settings: { medium: 'opfs-exclusive' },
    medium: 'files',
    manyTabs: false,
  },
  OURS_IN_TABS,
  RAW_INDEXEDDB,
];
export const WEBKIT_SUBJECTS: readonly Subject[] = [ours('', {}), OURS_IN_TABS, RAW_INDEXEDDB];

/**
 * The subjects of the client group: ours through the SDK, the others through one message per call or their own API on
 * the page.
 */
export const CLIENT_SUBJECTS: readonly Subject[] = [
  {
    name: 'rockpool',
    variant: '',
    adapter: 'rockpool-client',
    settings: {},
    medium: 'files',
    manyTabs: true,
    hasLiveQueries: true,
  },
  {
    name: 'rockpool',
    variant: 'local tables',
    adapter: 'rockpool-client',
    settings: { local: true },
    medium: 'files',
    manyTabs: true,
    hasLiveQueries: true,
  },
  ...FILE_SUBJECTS.filter(
    ({ name, medium, only }) =>
      name !== 'rockpool' && name !== 'absurd-sql' && medium !== 'native' && only === undefined,
  ),
];

/** Whether a subject reports anything for a workload. */
export function runs(subject: Subject, workloadId: string): boolean {
  if (subject.lacks?.[workloadId] !== undefined) return false;
  return subject.only?.includes(workloadId) ?? true;
}

/** A name for folders and hosts. */
export function slugOf(subject: Subject): string {
  return `${subject.name} ${subject.variant}`
    .trim()
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-');
}
