import { RockpoolError } from '@rockpool/shared';
import { valueAt, withoutValueAt, withValueAt, type DocumentPath, type JsonValue } from '@rockpool/shared/document';

/**
 * Returns the JSON text of a document with the value at one path replaced by the value in another text, or removed if
 * the other text has none. Throws `document-gone` for a document that is NULL, and `document-place-missing`.
 */
export function restoredPlace(now: string | null, then: string, path: DocumentPath): string {
  if (now === null) throw new RockpoolError('document-gone');
  const document = JSON.parse(now) as JsonValue;
  const value = valueAt(JSON.parse(then) as JsonValue, path);
  const restored = value === undefined ? withoutValueAt(document, path) : withValueAt(document, path, value);
  if (restored === undefined) throw new RockpoolError('document-place-missing');
  return JSON.stringify(restored);
}
