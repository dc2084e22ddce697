import * as Y from 'yjs';

/**
 * A document that contains only what is merged into it. After a change by another site, Yjs deletes formats of texts
 * that have no effect at that moment. That would be an edit that no other replica receives: replicas that merge the
 * same edits in a different order would differ, and so could the effect of the next edit.
 */
export function emptyDocument(): Y.Doc {
  // Yjs gives each document a random name, which costs as much as a small edit and is never used here.
  const doc = new Y.Doc({ guid: '' });
  doc.on('afterTransaction', (transaction: Y.Transaction) => {
    transaction._needFormattingCleanup = false;
  });
  return doc;
}
