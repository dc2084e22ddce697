import { parentPort } from 'node:worker_threads';
import { RockpoolError, type ErrorData } from '@rockpool/shared';
import { workOnDocument, type DocumentWork, type WorkedDocument } from './document-work.ts';

/** To the thread that asked. */
export type DocumentAnswer = { readonly result: WorkedDocument } | { readonly error: ErrorData };

// One piece of work after the other. What is no expected failure ends this thread, and its owner starts another
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
