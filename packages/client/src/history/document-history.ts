import { RockpoolError } from '@rockpool/shared';
import type {
  DocumentHistory,
  DocumentHistoryPage,
  DocumentVersion,
  RowHistory,
  RowHistoryPage,
  RowVersion,
} from '../interface/row-history.ts';
import { diffDocuments, type Json } from './document-diff.ts';
import type { VersionNames } from './version-names.ts';

const DEFAULT_LIMIT = 20;
/** Longer than pauses within a sentence. */
const DEFAULT_PAUSE_MS = 5 * 60_000;
// The maximum number of versions that the server returns per request.
const VERSIONS_PER_REQUEST = 200;

/** Reads versions of the row that changed the column. */
type ReadVersions = (options: { readonly before: number | null; readonly limit: number }) => Promise<RowHistoryPage>;

export interface RowOfDocument extends Pick<RowHistory, 'at' | 'restore'> {
  /**
   * Sets a column to the text that `next` returns for its current text, in one transaction. Rejects with `row-missing`,
   * and with the error of `next`.
   */
  readonly change: (column: string, next: (now: string | null) => string) => Promise<void>;
}

/** Loaded on first use. */
export type DocumentPlaces = typeof import('./document-places.ts');

/** The history of one document column of a row. */
export function createDocumentHistory<Value>(
  row: RowOfDocument,
  readVersions: ReadVersions,
  { column, names }: { readonly column: string; readonly names: VersionNames },
  loadDocuments: () => Promise<DocumentPlaces>,
): DocumentHistory<Value> {
  const textAt = async (version: number | string): Promise<string | null> => {
    const text = (await row.at(version))?.[column] ?? null;
    return typeof text === 'string' ? text : null;
  };
  const at = async (version: number | string): Promise<Json> => {
    const text = await textAt(version);
    return text === null ? null : (JSON.parse(text) as Json);
  };
  return {
    page: ({ before, limit = DEFAULT_LIMIT, pauseMs = DEFAULT_PAUSE_MS } = {}) =>
      readGroups(readVersions, before ?? null, limit, pauseMs),
    at: async (version) => (await at(version)) as Value | null,
    async diff(from, to) {
      const [older, newer] = await Promise.all([at(from), at(to)]);
      return diffDocuments(older, newer);
    },
    async restore(version, { path = [] } = {}) {
      const text = await textAt(version);
      if (text === null) throw new RockpoolError('document-gone', { column });
      if (path.length === 0) return row.restore(version, { columns: [column] });
      const { restoredPlace } = await loadDocuments();
      await row.change(column, (now) => restoredPlace(now, text, path));
    },
    name: ({ untilMs, ...version }, name) => names.add(column, name, { ...version, writtenMs: untilMs }),
    rename: (name, newName) => names.rename(column, name, newName),
    unname: (name) => names.remove(column, name),
    names: () => names.list(column),
  };
}

/** Reads until the page has enough versions and the last one is complete. */
async function readGroups(
  readVersions: ReadVersions,
  before: number | null,
  limit: number,
  pauseMs: number,
): Promise<DocumentHistoryPage> {
  const groups: RowVersion[][] = [];
  for (let from = before; ;) {
    const page = await readVersions({ before: from, limit: VERSIONS_PER_REQUEST });
    for (const version of page.versions) {
      const last = groups.at(-1);
      if (last !== undefined && belongsTo(last, version, pauseMs)) last.push(version);
      else groups.push([version]);
    }
    from = page.next;
    // The first page has all pending versions: `next` is a version of the server, so later pages cannot begin with a
    // pending one.
    const count = Math.max(limit, groups.filter(([newest]) => newest?.version === null).length);
    if (from !== null && groups.length <= count) continue;
    const shown = groups.slice(0, count);
    const following = groups[count]?.[0]?.version ?? null;
    const next = following === null ? null : following + 1;
    return { ...page, versions: shown.map(toDocumentVersion), next, isTruncated: next === null && page.isTruncated };
  }
}

/** Whether a version directly precedes edits by the same author, without a pause. A named version ends a group. */
function belongsTo(group: readonly RowVersion[], version: RowVersion, pauseMs: number): boolean {
  const oldest = group.at(-1) as RowVersion;
  return (
    version.names.length === 0 &&
    oldest.author === version.author &&
    (oldest.version === null) === (version.version === null) &&
    oldest.kind === 'update' &&
    version.kind !== 'delete' &&
    Math.abs(oldest.writtenMs - version.writtenMs) < pauseMs
  );
}

function toDocumentVersion(group: readonly RowVersion[]): DocumentVersion {
  const [newest, oldest] = [group[0] as RowVersion, group.at(-1) as RowVersion];
  const { version, siteId, sequence, author, writtenMs, names } = newest;
  return {
    version,
    siteId,
    sequence,
    author,
    kind: newest.kind === 'update' ? oldest.kind : newest.kind,
    fromMs: oldest.writtenMs,
    untilMs: writtenMs,
    count: group.length,
    names,
  };
}
