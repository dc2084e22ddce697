import { documentColumns, encodeKey, type CellValue, type TableSchema } from '../../packages/shared/src/index.ts';
import { createDocument, parseJson } from '../../packages/shared/src/document/index.ts';
import { documentStateHash } from '../../packages/shared/src/testing/document-state-hash.ts';
import { householdSchema, PAGE_RULE } from './household-schema.ts';

/** Runs a query for one value. */
export type AskForValue = (sql: string, ...params: (bigint | number | Uint8Array | string)[]) => CellValue;

const PAGE_TABLE = householdSchema.tables.find(({ name }) => name === 'page') as TableSchema;
const [CONTENT_ID = 0] = documentColumns(PAGE_TABLE).keys();

/** One line for each page: a hash of its document's state. */
export function documentStates(ask: AskForValue, pageIds: readonly string[]): string {
  return pageIds.map((id) => `${id} ${stateLine(ask, id)}`).join('\n');
}

function stateLine(ask: AskForValue, id: string): string {
  const text = ask('SELECT content FROM page WHERE id = ?', id);
  if (typeof text !== 'string') return 'no document';
  const stored = ask('SELECT state FROM rockpool_document WHERE table_id = ? AND key = ? AND column_id = ?', PAGE_TABLE.id, encodeKey([id]), CONTENT_ID);
  return documentStateHash(stored instanceof Uint8Array ? stored : createDocument(parseJson(text, PAGE_RULE), PAGE_RULE));
}
