import { RockpoolError } from '@rockpool/shared';
import type { Route } from './route.ts';

const MAX_KEY_BYTES = 4_096;
const DEFAULT_LIMIT = 20;

/**
 * Versions of a row, newest first, as encodeHistoryPage writes them. `?table=` and `?key=` (encodeKey, in base64url) name
 * the row. `?before=` is the watermark below which the page begins, `?limit=` the most versions (default 20, at most
 * 200), `?column=` a column that they changed.
 */
export const history: Route = {
  method: 'GET',
  path: '/databases/:databaseId/history',
  access: 'read',
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
      }),
    );
  },
};

/** A row as a version left it, as encodeRowAtVersion writes it. `?version=` is the watermark of the version. */
export const rowAtVersion: Route = {
  method: 'GET',
  path: '/databases/:databaseId/history/row',
  access: 'read',
  answer: async ({ services, databaseId, principal, request }) => {
    const { searchParams } = new URL(request.url);
    return answerOf(
      await services.history(databaseId, principal, {
        kind: 'row',
        ...rowOf(searchParams),
        version: wholeNumber(searchParams.get('version') ?? '', 'version'),
      }),
    );
  },
};

function rowOf(searchParams: URLSearchParams): { readonly table: string; readonly key: Uint8Array } {
  const key = Buffer.from(searchParams.get('key') ?? '', 'base64url');
  if (key.length > MAX_KEY_BYTES) throw new RockpoolError('request-invalid', { problem: 'the key is too long' });
  return { table: searchParams.get('table') ?? '', key: new Uint8Array(key) };
}

function wholeNumber(text: string, name: string): number {
  if (!/^[1-9]\d{0,15}$/.test(text) || !Number.isSafeInteger(Number(text)))
    throw new RockpoolError('request-invalid', { problem: `${name} must be a positive integer` });
  return Number(text);
}

function answerOf(bytes: Uint8Array): Response {
  return new Response(bytes as Uint8Array<ArrayBuffer>, {
    headers: { 'content-type': 'application/vnd.rockpool.history', 'cache-control': 'private, no-store' },
  });
}
