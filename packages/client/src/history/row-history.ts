import {
  decodeHistoryPage,
  decodeRowAtVersion,
  RockpoolError,
  toRockpoolError,
  valueColumns,
  type LaterColumn,
  type StoredRowVersion,
} from '@rockpool/shared';
import type { RowHistory, RowHistoryPage, RowHistoryState, RowVersion } from '../interface/row-history.ts';
import type { SqlRow } from '../rpc/sql-value.ts';
import { callListener, createListeners } from '../tab/listeners.ts';
import { createDocumentHistory, type DocumentPlaces, type RowOfDocument } from './document-history.ts';
import type { DeviceHistory, DeviceVersion, VersionId } from './device-versions.ts';
import { rowQuery, toSqlValue, type HistoryRow } from './history-row.ts';
import { withNames, type VersionNames } from './version-names.ts';

const DEFAULT_LIMIT = 20;
// The maximum number of versions that the server returns per request.
const MAX_LIMIT = 200;

export interface RowHistorySource {
  readonly row: HistoryRow;
  /** Requests bytes from the server; see WorkerApi.request. Null: the client has no server. */
  readonly request: ((path: string) => Promise<Uint8Array>) | null;
  readonly deviceHistory: () => Promise<DeviceHistory>;
  readonly names: VersionNames;
  /** Calls the listener after each change of the row or of its names on this device, and of the status. */
  readonly follow: (onRow: () => void, onStatus: () => void) => () => void;
  readonly restore: (values: SqlRow | null, columns: readonly string[] | undefined) => Promise<void>;
  readonly change: RowOfDocument['change'];
  /** Loads Yjs. */
  readonly loadDocuments: () => Promise<DocumentPlaces>;
  readonly onProblem: (error: RockpoolError) => void;
  readonly nowMs: () => number;
}

const LOADING: RowHistoryState = Object.freeze({
  versions: [],
  next: null,
  source: 'device',
  completeUntilMs: null,
  isTruncated: false,
  error: null,
  loading: true,
});

export function createRowHistory(source: RowHistorySource): RowHistory {
  const live = new LiveHistory(source);
  const { names } = source;
  const versionsOf = (document: string | null): Pick<RowHistory, 'at' | 'restore'> => {
    const at: RowHistory['at'] = (version) => readRow(source, document, version);
    return {
      at,
      async restore(version, { columns } = {}) {
        if (columns?.length === 0)
          throw new RockpoolError('config-invalid', { problem: 'columns must name at least one column' });
        const values = await at(version);
        const missing = values === null ? undefined : columns?.find((name) => isMissing(source.row, values, name));
        if (missing !== undefined)
          throw new RockpoolError('history-version-gone', { table: source.row.table.name, column: missing });
        await source.restore(values, columns);
      },
    };
  };
  return {
    get current() {
      return live.current;
    },
    subscribe: (listener) => live.subscribe(listener),
    page: ({ before, limit = DEFAULT_LIMIT } = {}) => readNamedPage(source, { before: before ?? null, limit }),
    more: () => live.more(),
    ...versionsOf(null),
    name: (version, name) => names.add(null, name, version),
    rename: (name, newName) => names.rename(null, name, newName),
    unname: (name) => names.remove(null, name),
    names: () => names.list(null),
    document<Value>(column: string) {
      const { table } = source.row;
      if (!table.merge.documents.some((document) => document.column === column))
        throw new RockpoolError('document-unknown', { table: table.name, column });
      return createDocumentHistory<Value>(
        { ...versionsOf(column), change: source.change },
        (range) => readNamedPage(source, { ...range, column }),
        { column, names },
        source.loadDocuments,
      );
    },
  };
}

/** Whether the row has the column now but did not have it at that version. */
function isMissing({ table }: HistoryRow, values: SqlRow, name: string): boolean {
  return !Object.hasOwn(values, name) && valueColumns(table).some((column) => column.name === name);
}

interface PageRange {
  /** Null for the first page. */
  readonly before: number | null;
  readonly limit: number;
  /** Only versions that changed this column. Default: all versions. */
  readonly column?: string;
}

/** A page, with the names of its versions: those of the document in `column`, or else those of the row. */
async function readNamedPage(source: RowHistorySource, range: PageRange): Promise<RowHistoryPage> {
  const { page } = await readPage(source, range);
  return { ...page, versions: withNames(page.versions, await source.names.list(range.column ?? null)) };
}

interface ReadPage {
  readonly page: RowHistoryPage;
  /** The names of versions of this device that the server has not admitted. */
  readonly pending: ReadonlySet<string>;
}

/**
 * Reads a page from the server, and puts pending versions of this device before the first one. If the server is
 * unreachable, returns the versions of this device.
 */
async function readPage(source: RowHistorySource, { before, limit, column }: PageRange): Promise<ReadPage> {
  // Reads the device first: a version that is admitted between the two reads is in both results, and is recognized by
  // its sequence.
  const device = await source.deviceHistory();
  const own = (before === null ? device.versions : []).filter(
    ({ changes }) => column === undefined || changes.some((change) => change.column === column),
  );
  const pending = new Set(own.filter(({ isPending }) => isPending).map(nameOf));
  const untilMs = source.nowMs();
  try {
    if (source.request === null) throw new RockpoolError('config-invalid', { problem: 'no sync server is configured' });
    const query = `${rowQuery(source.row)}&format=2&limit=${limit}${before === null ? '' : `&before=${before}`}${column === undefined ? '' : `&column=${encodeURIComponent(column)}`}`;
    const page = decodeHistoryPage(await source.request(`/history?${query}`));
    const versions = page.versions.map((version) => fromServer(source.row, version, device.isOwn, page.laterColumns));
    const admitted = new Set(versions.map(nameOf));
    const waiting = own.filter((version) => version.isPending && !admitted.has(nameOf(version)));
    return {
      pending,
      page: {
        versions: [...waiting.map(fromDevice), ...versions],
        next: page.nextBefore,
        source: 'server',
        completeUntilMs: untilMs,
        isTruncated: page.nextBefore === null && page.isTruncated,
        error: null,
      },
    };
  } catch (thrown) {
    const error = toRockpoolError(thrown);
    if (isFinal(error) || before !== null) throw error;
    return {
      pending,
      page: {
        versions: own.slice(0, limit).map(fromDevice),
        next: null,
        source: 'device',
        completeUntilMs: null,
        isTruncated: false,
        error,
      },
    };
  }
}

/** Errors of the request itself, which would occur on another connection too. */
function isFinal({ code }: RockpoolError): boolean {
  return ['history-not-kept', 'frame-invalid', 'key-invalid', 'request-invalid', 'client-closed'].includes(code);
}

async function readRow(
  source: RowHistorySource,
  document: string | null,
  version: number | string,
): Promise<SqlRow | null> {
  const { row, request } = source;
  if (request === null) throw new RockpoolError('config-invalid', { problem: 'no sync server is configured' });
  const chosen = typeof version === 'number' ? `version=${version}` : await namedQuery(source, document, version);
  const values = decodeRowAtVersion(await request(`/history/row?${rowQuery(row)}&${chosen}`));
  if (values === null) return null;
  const columns = row.table.columns.filter(({ id }) => values.has(id));
  return Object.fromEntries([
    ...row.table.primaryKey.map((name, index) => [name, row.key[index] ?? null] as const),
    ...columns.map(({ id, name }) => [name, toSqlValue(values.get(id) ?? null)] as const),
  ]);
}

/** The query string of a named version. */
async function namedQuery(
  { names, deviceHistory }: RowHistorySource,
  document: string | null,
  name: string,
): Promise<string> {
  const { siteId, sequence } = await names.find(document, name);
  const { versions } = await deviceHistory();
  const named = nameOf({ siteId, sequence });
  if (versions.some((version) => version.isPending && nameOf(version) === named))
    throw new RockpoolError('changes-unsent', { pendingCount: 1, rejectedCount: 0 });
  return `site=${siteId}&sequence=${sequence}`;
}

function fromServer(
  { table }: HistoryRow,
  version: StoredRowVersion,
  isOwn: DeviceHistory['isOwn'],
  laterColumns: readonly LaterColumn[],
): RowVersion {
  const { watermark, kind, principal, site, sequence, writtenMs, receivedMs, changes } = version;
  return {
    version: watermark,
    kind,
    author: principal,
    siteId: site,
    sequence,
    isOwn: isOwn({ siteId: site, sequence }),
    writtenMs,
    receivedMs,
    // Skips columns that a newer version of the app added.
    changes: changes.flatMap(({ columnId, values }) => {
      const column = table.columns.find(({ id }) => id === columnId)?.name;
      if (column === undefined) return [];
      return [
        {
          column,
          before: toSqlValue(values?.before ?? null),
          after: toSqlValue(values?.after ?? null),
          isDocument: values === null,
        },
      ];
    }),
    names: [],
    laterColumns: table.columns
      .filter(({ id }) => laterColumns.some(({ columnId, until }) => columnId === id && watermark <= until))
      .map(({ name }) => name),
  };
}

function fromDevice({ isPending: _isPending, ...version }: DeviceVersion): RowVersion {
  return version;
}

function nameOf({ siteId, sequence }: VersionId): string {
  return `${siteId} ${sequence}`;
}

/** The newest versions of a row, which are read again when they change. Without listeners, nothing is read. */
class LiveHistory {
  current: RowHistoryState = LOADING;
  private readonly source: RowHistorySource;
  private readonly listeners = createListeners<RowHistoryState>();
  private stop: (() => void) | null = null;
  // Reads run one after another, so that an older response never replaces a newer one.
  private last: Promise<void> = Promise.resolve();
  private isAsked = false;

  constructor(source: RowHistorySource) {
    this.source = source;
  }

  subscribe(listener: (state: RowHistoryState) => void): () => void {
    const remove = this.listeners.add(listener);
    callListener(listener, this.current);
    this.stop ??= this.source.follow(
      () => this.read(),
      () => {
        if (this.current.loading || this.isUnsettled()) this.read();
      },
    );
    return () => {
      remove();
      if (this.listeners.count > 0) return;
      this.stop?.();
      this.stop = null;
    };
  }

  more(): Promise<void> {
    return this.inTurn(async () => {
      const { next, versions, completeUntilMs } = this.current;
      if (next === null) return;
      const { page } = await readPage(this.source, { before: next, limit: DEFAULT_LIMIT });
      await this.show({ ...page, versions: [...versions, ...page.versions], completeUntilMs, loading: false });
    });
  }

  /** Whether a version still waits for the server, or the server was unreachable at the last read. */
  private isUnsettled(): boolean {
    return this.current.error !== null || this.current.versions.some(({ version }) => version === null);
  }

  private read(): void {
    if (this.isAsked) return;
    this.isAsked = true;
    this.inTurn(async () => {
      this.isAsked = false;
      const limit = Math.min(MAX_LIMIT, Math.max(DEFAULT_LIMIT, this.current.versions.length));
      await this.show({ ...this.merged(await readPage(this.source, { before: null, limit })), loading: false });
    }).catch((thrown: unknown) => {
      const error = toRockpoolError(thrown);
      this.source.onProblem(error);
      this.emit({ ...this.current, error, loading: false });
    });
  }

  private inTurn(job: () => Promise<void>): Promise<void> {
    const done = this.last.then(job);
    this.last = done.catch(() => undefined);
    return done;
  }

  /**
   * While the server is unreachable, keeps the versions from its earlier responses, below this device's newer versions.
   */
  private merged({ page, pending }: ReadPage): RowHistoryPage {
    const { current } = this;
    if (page.source === 'server' || current.completeUntilMs === null) return page;
    const answered = current.versions.filter(({ version }) => version !== null);
    const known = new Set(answered.map(nameOf));
    const newestOf = (siteId: string): number =>
      Math.max(0, ...answered.flatMap((version) => (version.siteId === siteId ? [version.sequence] : [])));
    const newer = page.versions.filter((version) => {
      if (pending.has(nameOf(version))) return !known.has(nameOf(version));
      const newest = newestOf(version.siteId);
      return newest > 0 ? version.sequence > newest : version.writtenMs >= (current.completeUntilMs ?? 0);
    });
    return { ...current, versions: [...newer, ...answered], source: 'device', error: page.error };
  }

  private async show(state: RowHistoryState): Promise<void> {
    const names = await this.source.names.list(null);
    this.emit({ ...state, versions: withNames(state.versions, names) });
  }

  private emit(state: RowHistoryState): void {
    this.current = Object.freeze(state);
    this.listeners.emit(this.current);
  }
}
