import * as Y from 'yjs';

/**
 * A document in which nothing stands but what is merged into it. After a change of somebody else Yjs deletes formats of
 * texts that have no effect at that moment. That would be an edit that nobody else hears of: of replicas that merge the
 * same edits in another order, some would have it, and the next edit could have another effect there.
 */
export function emptyDocument(): Y.Doc {
  // Yjs names each document by a random text, which takes as long as a small edit, and which nothing here asks for.
  const doc = new Y.Doc({ guid: '' });
  doc.on('afterTransaction', (transaction: Y.Transaction) => {
    transaction._needFormattingCleanup = false;
  });
  return doc;
}
