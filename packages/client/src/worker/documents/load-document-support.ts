import { RockpoolError } from '@rockpool/shared';

type DocumentSupport = typeof import('./document-support.ts');

let loaded: DocumentSupport | null = null;

/**
 * Brings the code of documents in, once. To be awaited before a database with document columns opens: nothing that
 * works on rows can wait.
 */
export async function loadDocumentSupport(): Promise<void> {
  loaded ??= await import('./document-support.ts');
}

/** Only to be called for a document column. */
export function documentSupport(): DocumentSupport {
  if (loaded === null) throw new RockpoolError('internal', { problem: 'a document before its code is loaded' });
  return loaded;
}
