import { RockpoolError } from '@rockpool/shared';
import { loadPart } from '../../load-part.ts';

type DocumentSupport = typeof import('./document-support.ts');

let loaded: DocumentSupport | null = null;

/**
 * Loads document support, once. Await it before opening a database with document columns: code that works on rows
 * is synchronous.
 */
export async function loadDocumentSupport(): Promise<void> {
  loaded ??= await loadPart('documents', () => import('./document-support.ts'));
}

/** The loaded document support. Call it only for a document column. */
export function documentSupport(): DocumentSupport {
  if (loaded === null) throw new RockpoolError('internal', { problem: 'document support is not loaded' });
  return loaded;
}
