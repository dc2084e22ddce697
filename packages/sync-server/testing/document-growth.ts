import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { columnIdOf, DEFAULT_DOCUMENT_RULE, encodeKey, tableIdOf, type CellValue } from '@rockpool/shared';
import { createDocument, encodeDocumentCell, isEditOf, parseJson } from '@rockpool/shared/document';
import { DocumentAuthor } from '@rockpool/shared/testing';
import { ownSite } from '../src/database/own-site.ts';
import { LiveDatabase } from '../src/database/live-database.ts';
import { openDatabaseFile } from '../src/store/database-file.ts';
import { toBody, update, insert } from './changeset.ts';
import { TEST_SCHEMA } from './test-schema.ts';

const RULE = { ...DEFAULT_DOCUMENT_RULE, text: ['body'], richText: ['note'] };
const NOW_MS = 1_700_000_000_000;

export interface DocumentSizes {
  /** Size of the JSON in UTF-16 code units. */
  readonly content: number;
  /** Size of the state in bytes after the last edit, and its maximum. */
  readonly state: number;
  readonly largest: number;
  /** Size of the state in bytes after a compaction at this moment. */
  readonly compacted: number;
  /**
   * Bytes of everything that is stored in addition to the column: the state, the last edits and the replaced document.
   */
  readonly kept: number;
}

/** Repeatedly overwrites members and a text of one document, with a new Yjs client id for each session. */
export async function growDocument(overwrites: number, sessions: number): Promise<DocumentSizes> {
  const folder = mkdtempSync(join(tmpdir(), 'rockpool-growth-'));
  const live = new LiveDatabase(openDatabaseFile(join(folder, 'a.sqlite'), TEST_SCHEMA), {
    onFailure: (error) => {
      throw error;
    },
  });
  try {
    const { sql } = live.file;
    // The measurement is about size, so commits need not survive a power cut.
    sql.run('PRAGMA synchronous = OFF');
    const place = [BigInt(tableIdOf('pages')), encodeKey(['p']), BigInt(columnIdOf('content'))] as const;
    const readState = (): CellValue =>
      sql.get(
        'SELECT state FROM rockpool_document WHERE table_id = ? AND key = ? AND column_id = ?',
        ...place,
      )?.[0] as CellValue;
    const bytesIn = (table: string, column: string): number =>
      Number(
        sql.get(
          `SELECT coalesce(sum(length(${column})), 0) FROM ${table} WHERE table_id = ? AND key = ? AND column_id = ?`,
          ...place,
        )?.[0],
      );
    let text = contentAfter(0);
    await live.write(
      toBody([insert('pages', 'p', { content: encodeDocumentCell({ kind: 'content', json: text }) })]),
      'ann',
      NOW_MS,
    );
    const site = ownSite(live.file);
    let largest = 0;
    let state: CellValue = createDocument(parseJson(text, RULE), RULE);
    let author = new DocumentAuthor(state, RULE, site);
    for (let n = 1; n <= overwrites; n++) {
      text = contentAfter(n);
      const edit = author.edit(parseJson(text, RULE), 1 + (n % sessions));
      await live.write(toBody([update('pages', 'p', { content: edit })]), 'ann', NOW_MS + n);
      state = readState();
      largest = Math.max(largest, (state as Uint8Array).length);
      // The document was compacted and continues with a different state.
      if (!isEditOf(state, edit)) author = new DocumentAuthor(state, RULE, site);
    }
    const stored = String(sql.get("SELECT content FROM pages WHERE id = 'p'")?.[0]);
    if (stored !== text) throw new Error('the document differs from what was written last');
    return {
      content: text.length,
      state: (readState() as Uint8Array).length,
      largest,
      compacted: createDocument(parseJson(text, RULE), RULE).length,
      kept:
        bytesIn('rockpool_document', 'state') +
        bytesIn('rockpool_document_edit', 'yjs') +
        bytesIn('rockpool_document_replaced', 'state'),
    };
  } finally {
    await live.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Canonical JSON with some pages of text in which one line changes, a number that changes, and a list with elements
 * that are added and removed.
 */
function contentAfter(n: number): string {
  const lines = Array.from(
    { length: 120 },
    (_, line) => `${line}: the tide of a page that many people write, ${line === n % 120 ? n : ''}`,
  );
  return JSON.stringify({
    body: lines.join('\n'),
    items: Array.from({ length: 5 }, (_, index) => ({ id: `i${(n + index) % 7}`, note: `${n % 10}` })),
    n,
  });
}
