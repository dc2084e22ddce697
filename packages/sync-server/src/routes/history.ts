import { rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { RockpoolError } from '@rockpool/shared';
import type { ChangesetAuthor } from '../history/past-moment.ts';
import type { Route } from './route.ts';

const SITE = /^[\da-f]{32}$/;
const MAX_TABLES = 1_000;
const MAX_KEY_BYTES = 4_096;
const DEFAULT_LIMIT = 20;

/**
 * Versions of a row, newest first, encoded by encodeHistoryPage. `?table=` and `?key=` (encodeKey, in base64url) name
 * the row. `?before=` is the watermark below which the page begins, `?limit=` the maximum number of versions (default
 * 20, at most 200), `?column=` a column that they changed. `?format=2` asks for the columns that are younger than the
 * log.
 */
export const history: Route = {
  method: 'GET',
  path: '/databases/:databaseId/history',
  access: 'history',
  answer: async ({ services, databaseId, principal, request }) => {
    const { searchParams } = new URL(request.url);
    const before = searchParams.get('before');
    return answerOf(
      await services.history(databaseId, principal, {
        kind: 'page',
        ...rowOf(searchParams),
        before: before === null ? null : wholeNumber(before, 'before'),
        limit: wholeNumber(searchParams.get('limit') ?? String(DEFAULT_LIMIT), 'limit'),
        column: searchParams.get('column'),
        format: searchParams.get('format') === '2' ? 2 : 1,
      }),
    );
  },
};

/**
 * A row after a version, encoded by encodeRowAtVersion. `?version=` is the watermark of the version; `?site=` and
 * `?sequence=` name its changeset instead.
 */
export const rowAtVersion: Route = {
  method: 'GET',
  path: '/databases/:databaseId/history/row',
  access: 'history',
  answer: async ({ services, databaseId, principal, request }) => {
    const { searchParams } = new URL(request.url);
    return answerOf(
      await services.history(databaseId, principal, {
        kind: 'row',
        ...rowOf(searchParams),
        version: authorOf(searchParams) ?? wholeNumber(searchParams.get('version') ?? '', 'version'),
      }),
    );
  },
};

/**
 * The rows that some transactions changed, encoded by encodeWrittenRows. `?site=`, `?author=`, `?from=` and `?to=` (in
 * ms since 1970, by the time of writing) and `?version=` (a watermark) choose the transactions. `?table=` chooses a
 * table, and can be repeated. Only for principals that read everything.
 */
export const writtenRows: Route = {
  method: 'GET',
  path: '/databases/:databaseId/history/written',
  access: 'history',
  answer: async ({ services, databaseId, principal, request }) => {
    const { searchParams } = new URL(request.url);
    const optional = (name: string): number | null => {
      const text = searchParams.get(name);
      return text === null ? null : wholeNumber(text, name);
    };
    return answerOf(
      await services.history(databaseId, principal, {
        kind: 'written',
        site: siteOf(searchParams),
        author: searchParams.get('author'),
        fromMs: optional('from'),
        toMs: optional('to'),
        version: optional('version'),
        tables: searchParams.getAll('table').slice(0, MAX_TABLES),
      }),
    );
  },
};

/**
 * Sends the database at a past moment as a compressed SQLite file (history/write-past-state.ts). The moment is
 * `?watermark=` of a changeset, `?site=` and `?sequence=` of one, or `?time=` in ms since 1970. The header
 * `rockpool-watermark` names the last changeset in it, and `rockpool-received` when the server received it.
 */
export const pastState: Route = {
  method: 'GET',
  path: '/databases/:databaseId/past',
  access: 'history',
  answer: async ({ services, databaseId, principal, request }) => {
    const { searchParams } = new URL(request.url);
    const time = searchParams.get('time');
    const { path, ...facts } = await services.pastState(
      databaseId,
      principal,
      time === null
        ? (authorOf(searchParams) ?? { watermark: wholeNumber(searchParams.get('watermark') ?? '', 'watermark') })
        : { timeMs: wholeNumber(time, 'time') },
    );
    const file = await open(path);
    // An open file stays readable, and nothing is left over if the download is interrupted.
    rmSync(path, { force: true });
    return new Response(Readable.toWeb(file.createReadStream()) as ReadableStream<Uint8Array>, {
      headers: {
        'content-type': 'application/vnd.rockpool.past+gzip',
        'cache-control': 'private, no-store',
        'content-length': String(facts.compressedBytes),
        'rockpool-watermark': String(facts.watermark),
        'rockpool-received': String(facts.receivedMs),
        'rockpool-size': String(facts.sizeBytes),
        'rockpool-sha256': facts.sha256,
      },
    });
  },
};

function rowOf(searchParams: URLSearchParams): { readonly table: string; readonly key: Uint8Array } {
  const key = Buffer.from(searchParams.get('key') ?? '', 'base64url');
  if (key.length > MAX_KEY_BYTES) throw new RockpoolError('request-invalid', { problem: 'the key is too long' });
  return { table: searchParams.get('table') ?? '', key: new Uint8Array(key) };
}

function siteOf(searchParams: URLSearchParams): string | null {
  const site = searchParams.get('site');
  if (site !== null && !SITE.test(site))
    throw new RockpoolError('request-invalid', { problem: 'site must be 32 hex digits' });
  return site;
}

/** Null if the request names no changeset. */
function authorOf(searchParams: URLSearchParams): ChangesetAuthor | null {
  const site = siteOf(searchParams);
  if (site === null) return null;
  const sequence = searchParams.get('sequence') ?? '';
  // Accepts 0, the first sequence of a database that was created from an old moment.
  return { site, sequence: sequence === '0' ? 0 : wholeNumber(sequence, 'sequence') };
}

function wholeNumber(text: string, name: string): number {
  if (!/^[1-9]\d{0,15}$/.test(text) || !Number.isSafeInteger(Number(text)))
    throw new RockpoolError('request-invalid', { problem: `\`${name}\` must be a positive integer` });
  return Number(text);
}

function answerOf(bytes: Uint8Array): Response {
  return new Response(bytes as Uint8Array<ArrayBuffer>, {
    headers: { 'content-type': 'application/vnd.rockpool.history', 'cache-control': 'private, no-store' },
  });
}
