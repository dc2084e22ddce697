import { randomInt } from 'node:crypto';
import { RockpoolError, type CellValue, type ColumnSchema, type DocumentRule } from '@rockpool/shared';
import { canonicalJson, editDocument, encodeDocumentCell, readContent } from '@rockpool/shared/document';
import type { BackendValue } from './column-value.ts';

/** A generation names the edits of one write (clientIdOf); drawn by lot, none comes again after a restored backup. */
const GENERATIONS = 2 ** 47;

/**
 * What a document's column gets: the edit that makes of the stored document what the text says, or the whole where
 * there was none. Throws `document-invalid`.
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
    throw new RockpoolError('value-invalid', { column: name, problem: 'a document is its JSON text' });
  const content = readContent(value, rule);
  if (stored === null) return encodeDocumentCell({ kind: 'content', json: canonicalJson(content) });
  return editDocument(stored, content, rule, { site, generation: randomInt(GENERATIONS) }).edit;
}
