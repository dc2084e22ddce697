import { parentPort } from 'node:worker_threads';
import { RockpoolError, type ErrorData } from '@rockpool/shared';
import { workOnDocument, type DocumentWork, type WorkedDocument } from './document-work.ts';

/** The response to the thread that sent the work. */
export type DocumentAnswer = { readonly result: WorkedDocument } | { readonly error: ErrorData };

// Does one piece of work after another. An unexpected error ends this thread, and the pool starts another one
// (document-pool.ts).
parentPort?.on('message', (work: DocumentWork) => parentPort?.postMessage(answer(work)));

function answer(work: DocumentWork): DocumentAnswer {
  try {
    return { result: workOnDocument(work) };
  } catch (error) {
    if (error instanceof RockpoolError) return { error: error.toData() };
    throw error;
  }
}
