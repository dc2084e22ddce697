import { RockpoolError } from '@rockpool/shared';
import type {
  DocumentHistory,
  DocumentHistoryPage,
  DocumentVersion,
  RowHistory,
  RowHistoryPage,
  RowVersion,
} from '../client.ts';
import { diffDocuments, type Json } from './document-diff.ts';

const DEFAULT_LIMIT = 20;
/** Longer than a person thinks about a sentence. */
const DEFAULT_PAUSE_MS = 5 * 60_000;
// Of the server.
const VERSIONS_PER_REQUEST = 200;

/** Reads versions of the row that changed the column. */
type ReadVersions = (options: { readonly before: number | null; readonly limit: number }) => Promise<RowHistoryPage>;

/** The history of one document column of a row. */
export function createDocumentHistory<Value>(
  row: Pick<RowHistory, 'at' | 'restore'>,
  readVersions: ReadVersions,
  column: string,
): DocumentHistory<Value> {
  const textAt = async (version: number): Promise<string | null> => {
    const text = (await row.at(version))?.[column] ?? null;
    return typeof text === 'string' ? text : null;
  };
  const at = async (version: number): Promise<Json> => {
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
    async restore(version) {
      if ((await textAt(version)) === null) throw new RockpoolError('document-gone', { column });
      await row.restore(version, { columns: [column] });
    },
  };
}

/** Reads until the page has its versions and the last of them has ended. */
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
    if (from !== null && groups.length <= limit) continue;
    const shown = groups.slice(0, limit);
    const next = groups.length > limit ? (shown.at(-1)?.at(-1)?.version ?? null) : null;
    return { ...page, versions: shown.map(toDocumentVersion), next, isTruncated: next === null && page.isTruncated };
  }
}

/** Whether a version continues backwards what its author wrote, without a pause. */
function belongsTo(group: readonly RowVersion[], version: RowVersion, pauseMs: number): boolean {
  const oldest = group.at(-1) as RowVersion;
  return (
    oldest.author === version.author &&
    (oldest.version === null) === (version.version === null) &&
    oldest.kind === 'update' &&
    version.kind !== 'delete' &&
    Math.abs(oldest.writtenMs - version.writtenMs) < pauseMs
  );
}

function toDocumentVersion(group: readonly RowVersion[]): DocumentVersion {
  const [newest, oldest] = [group[0] as RowVersion, group.at(-1) as RowVersion];
  const { version, author, writtenMs } = newest;
  return {
    version,
    author,
    kind: newest.kind === 'update' ? oldest.kind : newest.kind,
    fromMs: oldest.writtenMs,
    untilMs: writtenMs,
    count: group.length,
  };
}
