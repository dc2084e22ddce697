import { parentPort } from 'node:worker_threads';
import { RockpoolError } from '@rockpool/shared';
import { READY, type DocumentAnswer } from './document-answer.ts';
import { workOnDocument, type DocumentWork } from './document-work.ts';

// Does one piece of work after another. An unexpected error ends this thread, and the pool starts another one
// (document-pool.ts).
parentPort?.on('message', (work: DocumentWork) => parentPort?.postMessage(answer(work)));
parentPort?.postMessage(READY);

function answer(work: DocumentWork): DocumentAnswer {
  try {
    return { result: workOnDocument(work) };
  } catch (error) {
    if (error instanceof RockpoolError) return { error: error.toData() };
    throw error;
  }
}
