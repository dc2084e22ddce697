import { parentPort, workerData } from 'node:worker_threads';
import { decodeDocumentCell } from '@rockpool/shared/document';
import { READY } from '../src/documents/document-answer.ts';
import { workOnDocument, type DocumentWork } from '../src/documents/document-work.ts';

/** The value of the gate while a thread is in its loop. */
export const LOOPING = 2;

/** How this worker misbehaves before its work, by the member `do` of a new document. */
const MISBEHAVIOURS: Readonly<Record<string, () => void>> = {
  wait: () => void Atomics.wait(workerData as Int32Array, 0, 0),
  loop: () => {
    Atomics.store(workerData as Int32Array, 0, LOOPING);
    for (;;);
  },
  hoard: () => {
    const kept: number[][] = [];
    for (;;) kept.push(new Array<number>(100_000).fill(kept.length));
  },
  crash: () => {
    throw new Error('crash');
  },
};

parentPort?.on('message', (work: DocumentWork) => {
  const cell = decodeDocumentCell(work.kind === 'expand' ? work.content : null);
  const [, misdeed = ''] = /"do":"(\w+)"/.exec(cell.kind === 'content' ? cell.json : '') ?? [];
  MISBEHAVIOURS[misdeed]?.();
  parentPort?.postMessage({ result: workOnDocument(work) });
});
parentPort?.postMessage(READY);
