import { columnIdOf, DEFAULT_DOCUMENT_RULE, encodeKey, type CellValue } from '@rockpool/shared';
import {
  decodeDocumentCell,
  documentText,
  editDocument,
  encodeDocumentCell,
  mergeDelivered,
  parseJson,
} from '@rockpool/shared/document';
import { expect, it } from 'vitest';
import { insert, toBody, update } from '../../testing/changeset.ts';
import { TEST_SCHEMA } from '../../testing/test-schema.ts';
import { LiveDatabase } from '../database/live-database.ts';
import { ownSite } from '../database/own-site.ts';
import type { StoredTable } from '../sqlite/stored-table.ts';
import { openDatabaseFile } from '../store/database-file.ts';
import { documentUpdate } from './document-edits.ts';

const RULE = { ...DEFAULT_DOCUMENT_RULE, text: ['body'], richText: ['note'] };
const NOW_MS = 1_700_000_000_000;

it('a reader at any watermark gets all edits above it, or the whole document if some of them are no longer kept', async () => {
  const live = new LiveDatabase(openDatabaseFile(':memory:', TEST_SCHEMA), {
    onFailure: (error) => expect.unreachable(String(error)),
  });
  const { sql, tableByName } = live.file;
  const table = tableByName.get('pages') as StoredTable;
  const place = { table, keyBytes: encodeKey(['p']), columnId: columnIdOf('content') };
  const stored = (): CellValue => sql.get('SELECT state FROM rockpool_document')?.[0] ?? null;
  const editsAbove = (): number => Number(sql.get('SELECT edits_above FROM rockpool_document')?.[0]);
  const textOf = (n: number): string =>
    JSON.stringify({ body: 'The tide comes in. '.repeat(320), place: `${n}`.padEnd(60, '.') });
  const write = (change: Parameters<typeof toBody>[0][number]): Promise<number> =>
    live.write(toBody([change]), 'ann', NOW_MS);
  const content = encodeDocumentCell({ kind: 'content', json: textOf(0) });
  const stateByWatermark = new Map([[await write(insert('pages', 'p', { content })), stored()]]);
  const first = editsAbove();
  let n = 0;
  // Until the first edits are no longer kept.
  while (editsAbove() === first) {
    n++;
    const author = { site: ownSite(live.file), generation: n };
    const { edit } = editDocument(stored(), parseJson(textOf(n), RULE), RULE, author);
    stateByWatermark.set(await write(update('pages', 'p', { content: edit })), stored());
  }
  const kinds = new Map<number, string>();
  for (const [watermark, state] of stateByWatermark) {
    const delivered = documentUpdate(sql, place, stored(), watermark);
    kinds.set(watermark, decodeDocumentCell(delivered).kind);
    expect(documentText(mergeDelivered(state, delivered)), `from ${watermark}`).toBe(textOf(n));
  }
  expect([kinds.get(editsAbove() - 1), kinds.get(editsAbove())]).toEqual(['state', 'update']);
  await live.close();
});
