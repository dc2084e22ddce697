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
  /** UTF-16 units of the JSON. */
  readonly content: number;
  /** Bytes of the state after the last edit, and the most that it ever had. */
  readonly state: number;
  readonly largest: number;
  /** Bytes of the state that a compaction of this moment would leave. */
  readonly compacted: number;
  /**
   * Bytes of everything that is kept beside the column: the state, the last edits, the document that it took the place
   * of.
   */
  readonly kept: number;
}

/** Overwrites members and a text of one document again and again, each session under a Yjs client id of its own. */
export async function growDocument(overwrites: number, sessions: number): Promise<DocumentSizes> {
  const folder = mkdtempSync(join(tmpdir(), 'rockpool-growth-'));
  const live = new LiveDatabase(openDatabaseFile(join(folder, 'a.sqlite'), TEST_SCHEMA), {
    onFailure: (error) => {
      throw error;
    },
  });
  try {
    const { sql } = live.file;
    // What is measured is size, not what survives a loss of power.
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
      // It was compacted, and goes on as another.
      if (!isEditOf(state, edit)) author = new DocumentAuthor(state, RULE, site);
    }
    const stored = String(sql.get("SELECT content FROM pages WHERE id = 'p'")?.[0]);
    if (stored !== text) throw new Error('the document is not what was written last');
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
 * Some pages of text with a line that changes, a number that changes, and a list whose elements come and go. Canonical
 * JSON.
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
