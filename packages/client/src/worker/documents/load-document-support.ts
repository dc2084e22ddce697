import { RockpoolError } from '@rockpool/shared';
import { loadPart } from '../../load-part.ts';

type DocumentSupport = typeof import('./document-support.ts');

let loaded: DocumentSupport | null = null;

/**
 * Loads the code of documents, once. Await it before opening a database with document columns: code that works on rows
 * is synchronous.
 */
export async function loadDocumentSupport(): Promise<void> {
  loaded ??= await loadPart('documents', () => import('./document-support.ts'));
}

/** The loaded code of documents. Call it only for a document column. */
export function documentSupport(): DocumentSupport {
  if (loaded === null) throw new RockpoolError('internal', { problem: 'the code of documents is not loaded' });
  return loaded;
}
