import { randomInt } from 'node:crypto';
import { RockpoolError, type CellValue, type ColumnSchema, type DocumentRule } from '@rockpool/shared';
import { canonicalJson, editDocument, encodeDocumentCell, readContent } from '@rockpool/shared/document';
import type { BackendValue } from './column-value.ts';

/**
 * A generation identifies the edits of one write (clientIdOf). It is random, so that none occurs twice after a restore
 * from a backup.
 */
const GENERATIONS = 2 ** 47;

/**
 * The cell of a document column: the edit that turns the stored document into `value`, or the whole content if no
 * document exists yet. Throws `document-invalid`, and `value-invalid` for a value that is not JSON text.
 */
export function toDocumentCell(
  value: BackendValue,
  stored: CellValue,
  { name }: ColumnSchema,
  rule: DocumentRule,
  site: string,
): CellValue {
  if (value === null) return null;
  if (typeof value !== 'string')
    throw new RockpoolError('value-invalid', { column: name, problem: 'a document must be JSON text' });
  const content = readContent(value, rule);
  if (stored === null) return encodeDocumentCell({ kind: 'content', json: canonicalJson(content) });
  return editDocument(stored, content, rule, { site, generation: randomInt(GENERATIONS) }).edit;
}
